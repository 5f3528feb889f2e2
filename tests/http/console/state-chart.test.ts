/**
 * Goal: the drawing of an actor tells what its machine does, all of it and nothing else. Method:
 * each machine's states, transitions and guards are looked for in what is drawn.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { setup } from "xstate";
import { walletDayMachine } from "../../../actors/wallet-day.ts";
import { dotOf, rulesOf, stateChart } from "../../../src/http/console/state-chart.ts";
import { spelled } from "../../../src/http/console/words.ts";

test("every state is drawn, and the present one alone is marked", async () => {
  for (const state of ["fresh", "voting", "spent"]) {
    const drawing = String(await stateChart("wallet-day", state));
    const nodes = [
      ...drawing.matchAll(/class="node state( current)?">[\s\S]*?<text[^>]*>([^<]*)</g),
    ];
    // Drawn twice: from left to right, and from top to bottom for phones.
    const states = ["fresh", "fresh", "spent", "spent", "voting", "voting"];
    assert.deepEqual(nodes.map(([, , name]) => name).sort(), states);
    const marked = nodes.filter(([, current]) => current !== undefined);
    assert.deepEqual(
      marked.map(([, , name]) => name),
      [state, state],
    );
  }
});

test("every guard and action of the machine is told, in the drawing or in the rules beside it", () => {
  const told = dotOf(walletDayMachine, "fresh") + rulesOf(walletDayMachine).flat(2).join("\n");
  for (const guard of Object.keys(walletDayMachine.implementations.guards)) {
    assert.ok(told.includes(`[${spelled(guard)}]`), guard);
  }
  for (const action of Object.keys(walletDayMachine.implementations.actions)) {
    assert.ok(told.includes(spelled(action)), action);
  }
});

test("what all moves do is said once, what one alone does stands at its arrow", () => {
  const machine = setup({
    types: { events: {} as { type: "dawn" } | { type: "dusk" } },
    actions: { toll: () => undefined, crow: () => undefined },
  }).createMachine({
    initial: "night",
    states: { night: {}, day: {} },
    on: {
      dawn: { target: ".day", actions: ["toll", "crow"] },
      dusk: { target: ".night", actions: ["toll"] },
    },
  });
  assert.deepEqual(rulesOf(machine), [["With every arrow", ["toll"]]]);
  const dot = dotOf(machine, "night");
  assert.match(dot, /"night" -> "day" \[label="dawn\\n→ crow"\]/);
  assert.match(dot, /"day" -> "night" \[label="dusk"\]/);
});

test("a machine that is changed is drawn otherwise: nothing here knows it", () => {
  const machine = setup({
    types: { events: {} as { type: "dawn" } | { type: "dusk" } },
    guards: { isClear: () => true },
  }).createMachine({
    id: "sky",
    initial: "night",
    states: { night: {}, day: {} },
    on: { dawn: { target: ".day", guard: "isClear" }, dusk: { target: ".night" } },
  });
  const dot = dotOf(machine, "night");
  assert.match(dot, /"night" \[class="state current"\]/);
  assert.match(dot, /"night" -> "day" \[label="dawn \[is clear\]"\]/);
  assert.match(dot, /"day" -> "night" \[label="dusk"\]/);
  assert.match(dot, /start -> "night"/);
});

test("the picture holds no style of its own, so the page's policy has nothing to refuse", async () => {
  const drawing = String(await stateChart("forever-mint", "collecting"));
  assert.equal(drawing.match(/<svg /g)?.length, 2);
  assert.doesNotMatch(drawing, /style=|<style|<script|<a | id=/);
});

test.run();
