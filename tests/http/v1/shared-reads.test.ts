/** Equal questions share a read that has not started: never one that is older than the question. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { shareReads } from "../../../src/http/v1/shared-reads.ts";

/** A read whose answers the test gives, one by one. */
function heldReads() {
  const begun: { resolve: (value: number) => void; reject: (reason: Error) => void }[] = [];
  const read = () => new Promise<number>((resolve, reject) => void begun.push({ resolve, reject }));
  return { begun, read };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));
const ticks = async () => {
  for (let n = 0; n < 3; n++) await tick();
};

test("questions of one tick are one read, different questions are not", async () => {
  const { begun, read } = heldReads();
  const share = shareReads<number>();
  const asked = [share("a", read), share("a", read), share("b", read)];
  await ticks();
  assert.equal(begun.length, 2);
  begun[0]?.resolve(1);
  begun[1]?.resolve(2);
  assert.deepEqual(await Promise.all(asked), [1, 1, 2]);
});

test("a question asked while a read runs waits for the next one, together with others", async () => {
  const { begun, read } = heldReads();
  const share = shareReads<number>();
  const first = share("a", read);
  await ticks();
  const later = [share("a", read), share("a", read)];
  await ticks();
  assert.equal(begun.length, 1, "the second read waits for the first");
  begun[0]?.resolve(1);
  assert.equal(await first, 1);
  await ticks();
  assert.equal(begun.length, 2);
  begun[1]?.resolve(2);
  assert.deepEqual(await Promise.all(later), [2, 2]);
});

test("a read that hangs does not hold up the next for long", async () => {
  const { begun, read } = heldReads();
  const share = shareReads<number>();
  const hanging = share("a", read);
  await ticks();
  const next = share("a", read);
  while (begun.length < 2) await tick();
  begun[1]?.resolve(2);
  assert.equal(await next, 2);
  begun[0]?.resolve(1);
  assert.equal(await hanging, 1);
});

test("a read that fails fails for those who shared it, and is forgotten", async () => {
  const { begun, read } = heldReads();
  const share = shareReads<number>();
  const asked = [share("a", read), share("a", read)];
  const settled = Promise.allSettled(asked);
  await ticks();
  begun[0]?.reject(new Error("away"));
  assert.deepEqual(
    (await settled).map(({ status }) => status),
    ["rejected", "rejected"],
  );
  const again = share("a", read);
  await ticks();
  begun[1]?.resolve(7);
  assert.equal(await again, 7);
});

test.run();
