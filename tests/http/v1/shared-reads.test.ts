/** Equal questions share a read that has not started: never one that is older than the question. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { shareReads } from "../../../src/http/v1/response-cache.ts";

/** A read whose answers the test gives, one by one. */
function heldReads() {
  const started: { resolve: (value: number) => void; reject: (reason: Error) => void }[] = [];
  const read = () =>
    new Promise<number>((resolve, reject) => void started.push({ resolve, reject }));
  return { started, read };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));
const ticks = async () => {
  for (let n = 0; n < 3; n++) await tick();
};

test("questions of one tick are one read, different questions are not", async () => {
  const { started, read } = heldReads();
  const share = shareReads<number>();
  const asked = [share("a", read), share("a", read), share("b", read)];
  await ticks();
  assert.equal(started.length, 2);
  started[0]?.resolve(1);
  started[1]?.resolve(2);
  assert.deepEqual(await Promise.all(asked), [1, 1, 2]);
});

test("a question asked while a read runs waits for the next one, together with others", async () => {
  const { started, read } = heldReads();
  const share = shareReads<number>();
  const first = share("a", read);
  await ticks();
  const later = [share("a", read), share("a", read)];
  await ticks();
  assert.equal(started.length, 1, "the second read waits for the first");
  started[0]?.resolve(1);
  assert.equal(await first, 1);
  await ticks();
  assert.equal(started.length, 2);
  started[1]?.resolve(2);
  assert.deepEqual(await Promise.all(later), [2, 2]);
});

test("a read that hangs does not hold up the next for long", async () => {
  const { started, read } = heldReads();
  const share = shareReads<number>();
  const hanging = share("a", read);
  await ticks();
  const next = share("a", read);
  while (started.length < 2) await tick();
  started[1]?.resolve(2);
  assert.equal(await next, 2);
  started[0]?.resolve(1);
  assert.equal(await hanging, 1);
});

test("a read that fails fails for those who shared it, and is forgotten", async () => {
  const { started, read } = heldReads();
  const share = shareReads<number>();
  const asked = [share("a", read), share("a", read)];
  const settled = Promise.allSettled(asked);
  await ticks();
  started[0]?.reject(new Error("away"));
  assert.deepEqual(
    (await settled).map(({ status }) => status),
    ["rejected", "rejected"],
  );
  const again = share("a", read);
  await ticks();
  started[1]?.resolve(7);
  assert.equal(await again, 7);
});

test.run();
