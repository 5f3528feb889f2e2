/**
 * Goal: reads without a key wait for their turn instead of being refused, and one whose turn comes
 * too late is not begun. Method: reads by hand that end when they are told to.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { readGate } from "../../src/http/read-gate.ts";

test("hundreds of reads at once are all answered, four at a time", async () => {
  const gated = readGate();
  let underWay = 0;
  let most = 0;
  const read = async (n: number) => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise(setImmediate);
    underWay -= 1;
    return n;
  };
  const numbers = Array.from({ length: 500 }, (_, n) => n);
  assert.deepEqual(await Promise.all(numbers.map((n) => gated(() => read(n)))), numbers);
  assert.equal(most, 4);
});

test("a read whose turn comes too late is refused, and never begun", async () => {
  const gated = readGate();
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const slow = Array.from({ length: 4 }, () => gated(() => ended));
  let isBegun = false;
  const late = gated(async () => {
    isBegun = true;
  });
  setTimeout(end, 1_100);
  await assert.rejects(late, { code: "UNAVAILABLE" });
  assert.equal(isBegun, false);
  await Promise.all(slow);
  assert.equal(await gated(async () => 1), 1);
});

test("beyond a thousand that wait, a read is refused at once", async () => {
  const gated = readGate();
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const reads = Array.from({ length: 1_004 }, () => gated(() => ended));
  await assert.rejects(
    gated(() => ended),
    { code: "UNAVAILABLE" },
  );
  end();
  await Promise.all(reads);
});

test.run();
