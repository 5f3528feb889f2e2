import * as assert from "node:assert/strict";
import { test } from "uvu";
import { batchPerTick } from "../../src/store/batch.ts";

test("loads asked for in one turn of the event loop go in one call, in their order", async () => {
  const calls: (readonly number[])[] = [];
  const double = batchPerTick(async (keys: readonly number[]) => {
    calls.push(keys);
    return keys.map((key) => key * 2);
  }, 100);
  assert.deepEqual(await Promise.all([double(3), double(1), double(3)]), [6, 2, 6]);
  assert.deepEqual(calls, [[3, 1, 3]]);
});

test("a load asked for after a call started goes in the next call", async () => {
  const calls: (readonly number[])[] = [];
  const load = batchPerTick(async (keys: readonly number[]) => {
    calls.push(keys);
    return keys;
  }, 100);
  await load(1);
  await load(1);
  assert.deepEqual(calls, [[1], [1]]);
});

test("more keys than a batch holds are split", async () => {
  const sizes: number[] = [];
  const load = batchPerTick(async (keys: readonly number[]) => {
    sizes.push(keys.length);
    return keys;
  }, 10);
  const keys = Array.from({ length: 25 }, (_, index) => index);
  assert.deepEqual(await Promise.all(keys.map((key) => load(key))), keys);
  assert.deepEqual(sizes, [10, 10, 5]);
});

test("a call that fails rejects its own batch and no other", async () => {
  const load = batchPerTick(async (keys: readonly number[]) => {
    if (keys.includes(0)) throw new Error("no zero");
    return keys;
  }, 1);
  const [first, second] = await Promise.allSettled([load(0), load(1)]);
  assert.equal(first?.status, "rejected");
  assert.deepEqual(second, { status: "fulfilled", value: 1 });
});

test("a call that answers too few values rejects instead of answering undefined", async () => {
  const load = batchPerTick(async (_keys: readonly number[]): Promise<number[]> => [], 10);
  await assert.rejects(load(1), /answered 0 values/);
});

test.run();
