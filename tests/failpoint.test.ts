import * as assert from "node:assert/strict";
import { test } from "uvu";
import { ConfigurationError, readSettings } from "../src/config.ts";
import { armFailpoint, failpoint, hookOf, parseFailpoint } from "../src/failpoint.ts";

test("the hook is undefined unless a failpoint is armed, and again after disarming", () => {
  assert.equal(failpoint, undefined);
  armFailpoint({ at: "pub.claimed", mode: "throw", hit: 1 });
  assert.ok(failpoint);
  armFailpoint(undefined);
  assert.equal(failpoint, undefined);
});

test("the fault strikes only the nth passing of the named place, once", async () => {
  const hits: number[] = [];
  const hook = hookOf(
    { at: "vote.before_ack", mode: "throw", hit: 2 },
    ({ hit }) => void hits.push(hit),
  );
  await hook("vote.before_ack");
  await hook("vote.after_cache");
  await assert.rejects(async () => hook("vote.before_ack"), /^Error: failpoint vote.before_ack$/);
  await hook("vote.before_ack");
  assert.deepEqual(hits, [2]);
});

test("a lost answer is the error that the caller's dependency would throw", async () => {
  const hook = hookOf({ at: "pub.signed", mode: "lost", hit: 1 });
  await assert.rejects(async () => hook("pub.signed"), {
    name: "RetryableError",
    code: "UNAVAILABLE",
    message: "failpoint pub.signed: the answer was lost",
  });
});

test("an order is a known place, a known mode and a count from 1", () => {
  assert.deepEqual(parseFailpoint("pub.signed:kill"), { at: "pub.signed", mode: "kill", hit: 1 });
  assert.equal(parseFailpoint("pub.signed:hang:12")?.hit, 12);
  for (const text of ["pub.signed", "pub.none:kill", "pub.signed:burn", "pub.signed:kill:0"]) {
    assert.equal(parseFailpoint(text), undefined, text);
  }
});

test("the setting is refused in production", () => {
  const FAILPOINT = "pub.signed:kill";
  assert.equal(readSettings({ FAILPOINT }).FAILPOINT, FAILPOINT);
  assert.throws(
    () => readSettings({ FAILPOINT, NODE_ENV: "production" }),
    (error) => error instanceof ConfigurationError && /FAILPOINT is for tests/.test(error.message),
  );
});

test.run();
