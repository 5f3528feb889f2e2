import * as assert from "node:assert/strict";
import { mock } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "uvu";
import { followClock } from "../src/clock.ts";

const never = (): void => assert.fail("no measurement should fail");

test("a clock follows its source, however far the machine's clock is off (A14 skew, P10)", async () => {
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

test("the source is asked at the start, and every ten seconds", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let looks = 0;
  const clock = await followClock(async () => {
    looks += 1;
    return 1_000_000;
  }, never);
  const seen = [];
  for (const ms of [0, 9_999, 1, 9_999, 1]) {
    mock.timers.tick(ms);
    await turn();
    seen.push(looks);
  }
  clock.stop();
  mock.timers.reset();
  assert.deepEqual(seen, [1, 1, 2, 2, 3]);
});

test("a time in an answer is compared: after a jump the clock is measured again, else not", async () => {
  let source = 1_000_000;
  let looks = 0;
  const clock = await followClock(async () => {
    looks += 1;
    return source;
  }, never);
  clock.stop();
  await clock.compare(source, clock.now());
  assert.equal(looks, 1);
  for (const jumped of [90_000_000, 500_000]) {
    source = jumped;
    await clock.compare(source, clock.now());
    assert.ok(clock.now() >= jumped && clock.now() < jumped + 1_000);
  }
  assert.equal(looks, 3);
});

test("a slow answer leaves the clock as it is, unless it proves the clock wrong", async () => {
  const startedAt = performance.now();
  let ahead = 1_000_000;
  let delayMs = 0;
  const clock = await followClock(async () => {
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    return ahead + performance.now() - startedAt;
  }, never);
  clock.stop();
  const error = (): number => clock.now() - (ahead + performance.now() - startedAt);
  delayMs = 400;
  await clock.measure();
  assert.ok(Math.abs(error()) < 100, `off by ${error()} ms`);
  ahead = 2_000_000;
  await clock.measure();
  assert.ok(Math.abs(error()) < 500, `off by ${error()} ms`);
});

test("what a measurement errs by lets the clock stand, and never go back; a jump sets it back", async () => {
  let source = 1_000_000;
  const clock = await followClock(async () => source, never);
  clock.stop();
  const before = clock.now();
  source = before - 90;
  await clock.measure();
  assert.equal(clock.now(), before);
  source = before - 1_000;
  await clock.measure();
  assert.ok(clock.now() < before - 900);
  source = before;
  await clock.measure();
  assert.ok(clock.now() >= before);
});

test("a first answer that waited for a connection is asked for again", async () => {
  let looks = 0;
  const clock = await followClock(async () => {
    looks += 1;
    if (looks === 1) await new Promise((resolve) => setTimeout(resolve, 300));
    return 1_000_000;
  }, never);
  clock.stop();
  assert.equal(looks, 2);
  assert.ok(clock.now() < 1_000_100, `off by ${clock.now() - 1_000_000} ms`);
});

test("callers that ask while the source is being asked share the answer", async () => {
  let looks = 0;
  const clock = await followClock(async () => {
    looks += 1;
    return 1_000_000;
  }, never);
  clock.stop();
  await Promise.all([clock.measure(), clock.measure(), clock.measure()]);
  assert.equal(looks, 2);
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
