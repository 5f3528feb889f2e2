/**
 * Goal: a stream's number in the ring leads to the newest value of every item that changed since,
 * and to nothing where some of them are gone. Method: a ring filled by hand.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import type { CounterChange } from "../../src/reads/counter-changes.ts";
import { LiveRing } from "../../src/voting/live-ring.ts";

const DAY = "2026-11-20";
const at = (star: number) => ({ star, release: 0 });
const change = (id: string, totalVotes: number): CounterChange => ({
  type: "token",
  id,
  totalVotes,
  day: DAY,
});
const heard = (ring: LiveRing, from: number): unknown[] =>
  (ring.take(from, 1_000)?.events ?? []).map(({ id, data }) => {
    const { id: item, totalVotes } = JSON.parse(data);
    return `${item} ${totalVotes} ${id.slice(DAY.length + 1)}`;
  });

test("an item is heard once with its newest value, and only the last bears the new position", () => {
  const ring = new LiveRing(at(10), DAY);
  ring.append([change("a", 1), change("b", 1)], at(12));
  ring.append([change("b", 2), change("c", 1)], at(14));
  assert.deepEqual(heard(ring, ring.after(at(10))), ["a 1 10-0", "b 2 12-0", "c 1 14-0"]);
  assert.deepEqual(heard(ring, ring.after(at(12))), ["b 2 12-0", "c 1 14-0"]);
  // A position inside of what was read together: both are heard, none is missed.
  assert.deepEqual(heard(ring, ring.after(at(13))), ["b 2 12-0", "c 1 14-0"]);
  assert.deepEqual(heard(ring, ring.after(at(14))), []);
});

test("what lies before the floor comes first, unless it changed later", () => {
  const ring = new LiveRing(at(10), DAY);
  ring.append([change("b", 2)], at(12));
  const walking = ring.end;
  ring.prepend([change("a", 1), change("b", 2)], at(8));
  assert.deepEqual(ring.floor, at(8));
  assert.deepEqual(heard(ring, ring.after(at(8))), ["a 1 8-0", "b 2 12-0"]);
  ring.append([change("c", 1)], at(13));
  assert.deepEqual(heard(ring, walking), ["c 1 13-0"]);
});

test("the oldest are forgotten: who stands there cannot go on, and the floor says so", () => {
  const ring = new LiveRing(at(0), DAY);
  const late = ring.end;
  for (let star = 1; star <= 50_001; star += 1)
    ring.append([change(`${star % 3}`, star)], at(star));
  assert.equal(ring.take(late, 10), undefined);
  assert.deepEqual(ring.floor, at(25_001));
  assert.deepEqual(heard(ring, ring.after(at(25_001))), [
    "1 49999 49999-0",
    "2 50000 50000-0",
    "0 50001 50001-0",
  ]);
});

test.run();
