/** Work with a deadline, in a process that has time and in one that is busy. */
import * as assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { test } from "uvu";
import { withDeadline } from "../src/with-deadline.ts";

const DEADLINE_MS = 20;

test("work that does not end in time is given up, with the given error", async () => {
  const never = new Promise(() => undefined);
  await assert.rejects(withDeadline(never, DEADLINE_MS), /^Error: no answer in time$/);
  const late = () => new RangeError("late");
  await assert.rejects(withDeadline(never, DEADLINE_MS, late), /^RangeError: late$/);
  await assert.rejects(withDeadline(delay(20 * DEADLINE_MS), DEADLINE_MS), /no answer in time/);
});

test("what the work says in time is said, and no error is made", async () => {
  let made = 0;
  const late = () => {
    made += 1;
    return new Error("late");
  };
  assert.equal(await withDeadline(delay(1, "there"), 10_000, late), "there");
  await assert.rejects(withDeadline(Promise.reject(new Error("why")), DEADLINE_MS, late), /why/);
  await delay(2 * DEADLINE_MS);
  assert.equal(made, 0);
});

test("an answer that arrived while the process was busy is no late one", async () => {
  for (let round = 0; round < 5; round += 1) {
    const answer = withDeadline(promisify(randomBytes)(16), DEADLINE_MS);
    // It is there at once; this process reads it when its deadline is long over.
    const busyUntil = performance.now() + 5 * DEADLINE_MS;
    while (performance.now() < busyUntil);
    assert.equal((await answer).length, 16);
  }
});

test.run();
