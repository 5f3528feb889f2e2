import * as assert from "node:assert/strict";
import { test } from "uvu";
import { createSendGate } from "../../src/publishing/send-gate.ts";

function newGate() {
  const world = { now: 1_000, changes: [] as string[] };
  const gate = createSendGate({
    now: () => world.now,
    onShut: (obstacle) => void world.changes.push(obstacle),
    onOpen: () => void world.changes.push("open"),
  });
  return { world, gate };
}

test("an open gate lets everything through, and a few failures do not shut it", () => {
  const { gate, world } = newGate();
  for (let i = 0; i < 4; i++) gate.failed("outage", "no answer");
  assert.equal(gate.takeRoom(), Number.POSITIVE_INFINITY);
  assert.ok(gate.enter());
  gate.passed();
  for (let i = 0; i < 4; i++) gate.failed("outage", "no answer");
  assert.equal(gate.isShut, false);
  assert.deepEqual(world.changes, []);
});

test("five failures in a row shut it; then one probe a second passes until one succeeds", () => {
  const { gate, world } = newGate();
  for (let i = 0; i < 7; i++) gate.failed("outage", "no answer");
  assert.deepEqual(world.changes, ["outage"]);
  assert.equal(gate.takeRoom(), 0);
  assert.equal(gate.enter(), false);
  assert.equal(gate.retryInMs(), 1_000);
  world.now += 1_000;
  assert.equal(gate.takeRoom(), 1);
  assert.equal(gate.takeRoom(), 0);
  assert.equal(gate.enter(), true);
  assert.equal(gate.enter(), false);
  gate.failed("outage", "no answer");
  world.now += 1_000;
  assert.equal(gate.enter(), true);
  gate.passed();
  assert.ok(gate.enter() && gate.enter());
  assert.deepEqual(world.changes, ["outage", "open"]);
});

test("stars that only ask do not use the probe up", () => {
  const { gate, world } = newGate();
  for (let i = 0; i < 5; i++) gate.failed("outage", "no answer");
  world.now += 1_000;
  assert.equal(gate.takeRoom(), 1);
  world.now += 200;
  assert.equal(gate.takeRoom(), 1);
  assert.equal(gate.enter(), true);
});

test("one refusal for the configuration shuts it, and an outage meanwhile does not hide that", () => {
  const { gate, world } = newGate();
  gate.failed("configuration", "INVALID_SIGNATURE");
  for (let i = 0; i < 6; i++) gate.failed("outage", "no answer");
  assert.deepEqual(world.changes, ["configuration"]);
  assert.equal(gate.retryInMs(), 4_000);
  world.now += 4_000;
  assert.equal(gate.enter(), true);
  gate.tookEffect();
  assert.deepEqual(world.changes, ["configuration", "open"]);
});

test("what a node takes does not end a fault of the configuration: consensus has the last word", () => {
  const { gate, world } = newGate();
  gate.failed("configuration", "INVALID_SIGNATURE", { charged: true });
  world.now += 4_000;
  assert.ok(gate.enter());
  gate.passed();
  assert.ok(gate.isShut);
  gate.tookEffect();
  assert.ok(!gate.isShut);
});

test("probes that are paid for come ever more rarely, those that are not keep their pace", () => {
  const { gate, world } = newGate();
  const waits: number[] = [];
  const fail = (charged: boolean): void => {
    gate.failed("configuration", "INVALID_SIGNATURE", { charged });
    waits.push(gate.retryInMs());
    world.now += gate.retryInMs();
    gate.enter();
  };
  // Many were on their way when it shut.
  gate.failed("configuration", "INVALID_SIGNATURE", { charged: true });
  gate.failed("configuration", "INVALID_SIGNATURE", { charged: true });
  for (let i = 0; i < 6; i++) fail(true);
  fail(false);
  assert.deepEqual(waits, [4_000, 8_000, 16_000, 32_000, 32_000, 32_000, 4_000]);
  // One that was on its way beside the probe says nothing new.
  for (let i = 0; i < 2; i++) {
    gate.failed("configuration", "INVALID_SIGNATURE", { charged: true });
    assert.equal(gate.retryInMs(), 8_000);
  }
  // The next fault starts afresh.
  gate.tookEffect();
  gate.failed("configuration", "INVALID_SIGNATURE", { charged: true });
  assert.equal(gate.retryInMs(), 4_000);
});

test("an outage that turns out to be the configuration says so", () => {
  const { gate, world } = newGate();
  for (let i = 0; i < 5; i++) gate.failed("outage", "no answer");
  gate.failed("configuration", "TOPIC_EXPIRED");
  assert.deepEqual(world.changes, ["outage", "configuration"]);
});

test.run();
