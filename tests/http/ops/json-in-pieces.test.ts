/** Goal: what is written in pieces is, byte for byte, what is written at once. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { jsonInPieces } from "../../../src/http/ops/api.ts";

const many = (count: number, value: (n: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [n * 3, value(n)]));

test("the JSON is that of JSON.stringify, whatever the size", async () => {
  for (const value of [
    null,
    'a "quoted" text\n',
    7,
    [],
    {},
    { a: undefined, b: [1, undefined, { c: "é" }], 'k"': { nested: { d: null } } },
    many(10_000, String),
    { context: { A: many(10_001, (n) => `0.0.${n}`), B: {}, wallets: many(25_000, () => true) } },
    many(10_002, (n) => (n % 2 === 0 ? undefined : n)),
  ]) {
    assert.equal(await jsonInPieces(value), JSON.stringify(value));
  }
});

test("other work runs between the pieces", async () => {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await jsonInPieces(many(50_000, String));
  isDone = true;
  assert.ok(turns >= 5, `${turns} turns`);
});

test.run();
