import * as assert from "node:assert/strict";
import { test } from "uvu";
import { createFailover, roundRobin } from "../../src/ledger/failover.ts";

const NODES = ["0.0.3", "0.0.4", "0.0.5"];

/** As calls to consensus nodes go: spread evenly, those that failed last. */
function createRoster(now: () => number) {
  const spread = roundRobin();
  const failover = createFailover<string>(now);
  return { ...failover, inOrder: (nodes: readonly string[]) => failover.inOrder(spread(nodes)) };
}

test("calls go round, so that each node gets its share", () => {
  const roster = createRoster(() => 0);
  const firsts = Array.from({ length: 6 }, () => roster.inOrder(NODES)[0]);
  assert.deepEqual(firsts, [...NODES, ...NODES]);
  assert.deepEqual([...roster.inOrder(NODES)].sort(), NODES);
});

test("a node that failed comes after the others, and is never left out", () => {
  const roster = createRoster(() => 0);
  roster.failed("0.0.4");
  assert.ok(roster.isFailing("0.0.4"));
  for (let i = 0; i < 6; i++) assert.equal(roster.inOrder(NODES).at(-1), "0.0.4");
  assert.deepEqual(roster.inOrder(["0.0.4"]), ["0.0.4"]);
});

test("after its rest one call tries it, and an answer brings it back", () => {
  let now = 0;
  const roster = createRoster(() => now);
  roster.failed("0.0.4");
  now = 10_001;
  const firsts = Array.from({ length: 6 }, () => roster.inOrder(NODES)[0]);
  assert.equal(firsts.filter((node) => node === "0.0.4").length, 1);
  roster.answered("0.0.4");
  assert.equal(roster.isFailing("0.0.4"), false);
  const again = Array.from({ length: 6 }, () => roster.inOrder(NODES)[0]);
  assert.equal(again.filter((node) => node === "0.0.4").length, 2);
});

test("no nodes give no order", () => {
  assert.deepEqual(createRoster(() => 0).inOrder([]), []);
});

test.run();
