/**
 * Goal: the drawing of an actor tells what its machine does, all of it and nothing else. Method:
 * each machine's states, transitions and guards are looked for in what is drawn.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { setup } from "xstate";
import { walletDayMachine } from "../../../actors/wallet-day.ts";
import { dotOf, stateChart } from "../../../src/http/console/state-chart.ts";
import { spelled } from "../../../src/http/console/words.ts";

test("every state is drawn, and the present one alone is marked", async () => {
  for (const state of ["fresh", "voting", "spent"]) {
    const drawing = String(await stateChart("wallet-day", state));
    const nodes = [
      ...drawing.matchAll(/class="node state( current)?">[\s\S]*?<text[^>]*>([^<]*)</g),
    ];
    assert.deepEqual(nodes.map(([, , name]) => name).sort(), ["fresh", "spent", "voting"]);
    const marked = nodes.filter(([, current]) => current !== undefined);
    assert.deepEqual(
      marked.map(([, , name]) => name),
      [state],
    );
  }
});

test("every guard of the machine stands in the drawing", () => {
  const dot = dotOf(walletDayMachine, "fresh");
  for (const guard of Object.keys(walletDayMachine.implementations.guards)) {
    assert.ok(dot.includes(`[${spelled(guard)}]`), guard);
  }
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
  assert.match(drawing, /^<svg /);
  assert.doesNotMatch(drawing, /style=|<style|<script|<a /);
});

test.run();
