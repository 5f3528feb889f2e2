import * as assert from "node:assert/strict";
import { test } from "uvu";
import { readSettings } from "../../src/config.ts";
import { readGate } from "../../src/http/read-gate.ts";

test("all that one client may ask in a minute is read, four at once; what exceeds it is refused", async () => {
  const { VOTING_RATE_LIMIT: limit } = readSettings({});
  const gated = readGate();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let [running, most] = [0, 0];
  const read = async (): Promise<string> => {
    running += 1;
    most = Math.max(most, running);
    await released;
    running -= 1;
    return "read";
  };
  const reads = Array.from({ length: limit + 4 }, () => gated(read));
  await assert.rejects(gated(read), { code: "UNAVAILABLE", retryAfterSeconds: 1 });
  release();
  assert.deepEqual(await Promise.all(reads), new Array(limit + 4).fill("read"));
  assert.equal(most, 4);
});

test.run();
