import * as assert from "node:assert/strict";
import { test } from "uvu";
import { batcher } from "../src/batcher.ts";

test("loads asked for in one turn of the event loop go in one call, in their order", async () => {
  const calls: (readonly number[])[] = [];
  const double = batcher(
    async (keys: readonly number[]) => {
      calls.push(keys);
      return keys.map((key) => key * 2);
    },
    { keysMax: 100 },
  );
  assert.deepEqual(await Promise.all([double(3), double(1), double(3)]), [6, 2, 6]);
  assert.deepEqual(calls, [[3, 1, 3]]);
});

test("a load asked for after a call started goes in the next call", async () => {
  const calls: (readonly number[])[] = [];
  const load = batcher(
    async (keys: readonly number[]) => {
      calls.push(keys);
      return keys;
    },
    { keysMax: 100 },
  );
  await load(1);
  await load(1);
  assert.deepEqual(calls, [[1], [1]]);
});

test("more keys than a batch holds are split", async () => {
  const sizes: number[] = [];
  const load = batcher(
    async (keys: readonly number[]) => {
      sizes.push(keys.length);
      return keys;
    },
    { keysMax: 10 },
  );
  const keys = Array.from({ length: 25 }, (_, index) => index);
  assert.deepEqual(await Promise.all(keys.map((key) => load(key))), keys);
  assert.deepEqual(sizes, [10, 10, 5]);
});

test("a call that fails rejects its own batch and no other", async () => {
  const load = batcher(
    async (keys: readonly number[]) => {
      if (keys.includes(0)) throw new Error("no zero");
      return keys;
    },
    { keysMax: 1 },
  );
  const [first, second] = await Promise.allSettled([load(0), load(1)]);
  assert.equal(first?.status, "rejected");
  assert.deepEqual(second, { status: "fulfilled", value: 1 });
});

test("a call that answers too few values rejects instead of answering undefined", async () => {
  const load = batcher(async (_keys: readonly number[]): Promise<number[]> => [], { keysMax: 10 });
  await assert.rejects(load(1), /answered 0 values/);
});

/** Calls that the test ends one by one. */
function heldCalls() {
  const calls: { keys: readonly number[]; end: () => void }[] = [];
  const load = (keys: readonly number[]) =>
    new Promise<readonly number[]>((resolve) => {
      calls.push({ keys, end: () => resolve(keys) });
    });
  return { calls, load };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("with calls bounded, the next call takes all that was asked while it waited (A19 herd)", async () => {
  const { calls, load } = heldCalls();
  const ask = batcher(load, { keysMax: 10, callsMax: 1, waitMsMax: 60_000 });
  const first = ask(1);
  await turn();
  const second = ask(2);
  await turn();
  const third = ask(3);
  await turn();
  assert.equal(calls.length, 1, "the others wait for the call under way");
  calls[0]?.end();
  assert.equal(await first, 1);
  await turn();
  await turn();
  assert.deepEqual(calls[1]?.keys, [2, 3]);
  calls[1]?.end();
  assert.deepEqual(await Promise.all([second, third]), [2, 3]);
});

test("a call that hangs delays the next one for a bounded time", async () => {
  const { calls, load } = heldCalls();
  const ask = batcher(load, { keysMax: 10, callsMax: 1, waitMsMax: 1 });
  const hanging = ask(1);
  await turn();
  const next = ask(2);
  while (calls.length < 2) await turn();
  calls[1]?.end();
  assert.equal(await next, 2);
  calls[0]?.end();
  assert.equal(await hanging, 1);
});

test.run();
