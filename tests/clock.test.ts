import * as assert from "node:assert/strict";
import { test } from "uvu";
import { followClock } from "../src/clock.ts";

const never = (): void => assert.fail("no measurement should fail");

test("a clock follows its source, however far the machine's clock is off", async () => {
  const wrong = Date.now() + 3_600_000;
  const clock = await followClock(async () => wrong, never);
  clock.stop();
  assert.ok(Math.abs(clock.now() - wrong) < 50);
});

test("a jump of the source is followed at the next look", async () => {
  let source = 1_000_000;
  const clock = await followClock(async () => source, never);
  clock.stop();
  source = 90_000_000;
  assert.ok(clock.now() < 1_001_000);
  await clock.measure();
  assert.ok(clock.now() >= 90_000_000 && clock.now() < 90_001_000);
});

test("a service that cannot learn the time does not start", async () => {
  await assert.rejects(
    followClock(() => Promise.reject(new Error("no database")), never),
    /no database/,
  );
});

test("a source that fails later leaves the offset as it was", async () => {
  let fails = false;
  const clock = await followClock(
    () => (fails ? Promise.reject(new Error("away")) : Promise.resolve(5_000_000)),
    never,
  );
  clock.stop();
  fails = true;
  await assert.rejects(clock.measure(), /away/);
  assert.ok(clock.now() >= 5_000_000);
});

test.run();
