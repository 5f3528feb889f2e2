/**
 * Goal: the drawing of an actor shows what its machine does, all of it and nothing else. Method:
 * each machine's states, transitions and guards are looked for in what is drawn.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { type AnyStateMachine, setup } from "xstate";
import { eventDayMachine } from "../../../actors/event-day.ts";
import { foreverMintMachine } from "../../../actors/forever-mint.ts";
import { mintWalletMachine } from "../../../actors/mint-wallet.ts";
import { walletDayMachine } from "../../../actors/wallet-day.ts";
import { dotOf, rulesOf, stateChart } from "../../../src/http/console/state-chart.ts";
import { spelled } from "../../../src/http/console/words.ts";

test("every state is drawn, and the present one alone is marked", async () => {
  for (const state of ["open", "spent"]) {
    const drawing = String(await stateChart("wallet-day", state));
    const nodes = [
      ...drawing.matchAll(/class="node state( current)?">[\s\S]*?<text[^>]*>([^<]*)</g),
    ];
    assert.deepEqual(nodes.map(([, , name]) => name).sort(), ["open", "spent"]);
    const marked = nodes.filter(([, current]) => current !== undefined);
    assert.deepEqual(
      marked.map(([, , name]) => name),
      [state],
    );
  }
});

for (const machine of [
  walletDayMachine,
  eventDayMachine,
  foreverMintMachine,
  mintWalletMachine,
] as AnyStateMachine[]) {
  test(`every guard and action of ${machine.id} is shown, in the drawing or in the rules beside it`, () => {
    const shown = dotOf(machine, "open") + rulesOf(machine).flat(2).join("\n");
    for (const guard of Object.keys(machine.implementations.guards)) {
      assert.ok(shown.includes(`[${spelled(guard)}]`), guard);
    }
    for (const action of Object.keys(machine.implementations.actions)) {
      assert.ok(shown.includes(spelled(action)), action);
    }
  });
}

test("transitions are labels of arrows, other handlers are listed under their state", () => {
  const machine = setup({
    types: { events: {} as { type: "dawn" } | { type: "dusk" } },
    actions: { toll: () => undefined, crow: () => undefined },
  }).createMachine({
    initial: "night",
    states: {
      night: { on: { dawn: { target: "day", actions: ["toll", "crow"] } } },
      day: { on: { dusk: { target: "night" }, dawn: { actions: "toll" } } },
    },
  });
  assert.deepEqual(rulesOf(machine), [
    ["In night", []],
    ["In day", ["dawn → toll"]],
  ]);
  const dot = dotOf(machine, "night");
  assert.match(dot, /"night" -> "day" \[label=" {2}dawn\\n→ toll, crow"\]/);
  assert.match(dot, /"day" -> "night" \[label=" {2}dusk"\]/);
});

test("the drawing follows the machine alone: a changed machine is drawn with its changes", () => {
  const machine = setup({
    types: { events: {} as { type: "dawn" } | { type: "dusk" } },
    guards: { isClear: () => true },
  }).createMachine({
    id: "sky",
    initial: "night",
    states: {
      night: { on: { dawn: { target: "day", guard: "isClear" } } },
      day: { on: { dusk: { target: "night" } } },
    },
  });
  const dot = dotOf(machine, "night");
  assert.match(dot, /"night" \[class="state current"\]/);
  assert.match(dot, /"night" -> "day" \[label=" {2}dawn \[is clear\]"\]/);
  assert.match(dot, /"day" -> "night" \[label=" {2}dusk"\]/);
  assert.match(dot, /start -> "night"/);
});

test("the picture holds no style of its own, so the page's policy has nothing to refuse", async () => {
  const drawing = String(await stateChart("forever-mint", "collecting"));
  assert.equal(drawing.match(/<svg /g)?.length, 2, "the mint's machine and its wallets'");
  assert.doesNotMatch(drawing, /style=|<style|<script|<a | id=/);
});

test.run();
