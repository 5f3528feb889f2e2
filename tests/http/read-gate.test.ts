import * as assert from "node:assert/strict";
import { test } from "uvu";
import { bounds } from "../../src/bounds.ts";
import { readSettings } from "../../src/config.ts";
import { readGate } from "../../src/http/read-gate.ts";

const AT_ONCE = 4;
const refusal = { code: "UNAVAILABLE", retryAfterSeconds: 1 };

/** Reads that wait until the test lets them go. */
function heldReads() {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const seen = { started: 0, running: 0, most: 0 };
  const read = async (): Promise<string> => {
    seen.started += 1;
    seen.running += 1;
    seen.most = Math.max(seen.most, seen.running);
    await released;
    seen.running -= 1;
    return "read";
  };
  return { read, release, seen };
}

test("all that one client may ask in a minute is read, four at once; what exceeds it is refused", async () => {
  const { VOTING_RATE_LIMIT: limit } = readSettings({});
  const gated = readGate(() => 0);
  const { read, release, seen } = heldReads();
  const reads = Array.from({ length: limit + AT_ONCE }, () => gated(read));
  await assert.rejects(gated(read), refusal);
  release();
  assert.deepEqual(await Promise.all(reads), new Array(limit + AT_ONCE).fill("read"));
  assert.equal(seen.most, AT_ONCE);
});

test("what waited for too long is refused unread, and what is asked then is read at once", async () => {
  let now = 0;
  const gated = readGate(() => now);
  const { read, release, seen } = heldReads();
  const first = Array.from({ length: AT_ONCE }, () => gated(read));
  const late = Array.from({ length: 20 }, () => gated(read));
  now = bounds.statementDeadlineMs + 1;
  const next = gated(read);
  release();
  await Promise.all([...first, ...late.map((one) => assert.rejects(one, refusal))]);
  assert.equal(await next, "read");
  assert.equal(seen.started, AT_ONCE + 1);
});

test.run();
