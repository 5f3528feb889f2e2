import * as assert from "node:assert/strict";
import { test } from "uvu";
import { dayOf } from "../../actors/day.ts";
import { dayOfStarId, newStarId } from "../../src/journal/star-id.ts";

const NOW = Date.UTC(2026, 10, 20, 23, 59, 59, 999);

test("a star's id contains its day, and ids sort by their instants", () => {
  const [first, second] = [newStarId(NOW), newStarId(NOW + 1)];
  assert.equal(dayOfStarId(first), "2026-11-20");
  assert.equal(dayOfStarId(second), "2026-11-21");
  assert.ok(first < second);
});

test("ids of one instant are UUIDs of version 7, and never the same", () => {
  const ids = Array.from({ length: 5_000 }, () => newStarId(NOW));
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.equal(dayOfStarId(id), dayOf(NOW));
});

test("what is no star id has no day", () => {
  for (const text of [
    "",
    "x",
    "00000000-0000-4000-8000-000000000000",
    newStarId(NOW).toUpperCase(),
  ]) {
    assert.equal(dayOfStarId(text), null, text);
  }
});

test.run();
