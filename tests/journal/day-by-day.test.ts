/** Selects by the day of their keys: each key has its own answer, or all of a batch fail. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { dayByDay } from "../../src/journal/load.ts";

const keys = [
  { day: "2026-01-02", wallet: "b" },
  { day: "2026-01-01", wallet: "a" },
  { day: "2026-01-02", wallet: "c" },
] as const;

test("keys of two days are answered in their order, by a select for each day", async () => {
  const asked: string[] = [];
  const found = await dayByDay(keys, async (day, ofDay) => {
    asked.push(day);
    return ofDay.map(({ wallet }) => `${day} ${wallet}`);
  });
  assert.deepEqual(found, ["2026-01-02 b", "2026-01-01 a", "2026-01-02 c"]);
  assert.deepEqual(asked, ["2026-01-02", "2026-01-01"]);
});

test("a select with more or fewer rows than keys fails the whole batch", async () => {
  for (const surplus of [1, -1]) {
    const select = async (_day: string, { length }: { readonly length: number }) =>
      Array.from({ length: length + surplus }, () => "another wallet's");
    await assert.rejects(dayByDay(keys, select), RangeError);
  }
});

test.run();
