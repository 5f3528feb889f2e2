/** Goal: repeated work runs one at a time, survives its failures and stops in order; so do parts. */
import * as assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "uvu";
import { closedInTurn, every } from "../src/service.ts";

test("runs again after each run, a failed one included", async () => {
  let runs = 0;
  const failures: unknown[] = [];
  const repeating = every(
    1,
    () => {
      runs += 1;
      if (runs === 2) throw new Error("second");
    },
    { onFailure: (error) => failures.push(error) },
  );
  while (runs < 3) await pause(1);
  await repeating.close();
  assert.deepEqual(
    failures.map((error) => (error as Error).message),
    ["second"],
  );
});

test("a pause that is a function is asked anew after each run, and before the first", async () => {
  const pauses = [1, 2, 3];
  let runs = 0;
  const repeating = every(
    () => pauses.shift() ?? 60_000,
    () => {
      runs += 1;
    },
  );
  while (pauses.length > 0) await pause(1);
  while (runs < 3) await pause(1);
  await repeating.close();
  assert.equal(runs, 3);
});

test("a wake-up during a run starts the next run directly after it, never beside it", async () => {
  let atOnce = 0;
  let most = 0;
  let runs = 0;
  const repeating = every(
    60_000,
    async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await pause(5);
      atOnce -= 1;
      runs += 1;
    },
    { firstAfterMs: 0 },
  );
  repeating.wake();
  repeating.wake();
  repeating.wake();
  while (runs < 2) await pause(1);
  await repeating.close();
  assert.equal([most, runs].join(), "1,2");
});

test("closing waits for the run under way and starts no other", async () => {
  let ended = 0;
  const repeating = every(1, async () => {
    await pause(10);
    ended += 1;
  });
  repeating.wake();
  await repeating.close();
  repeating.wake();
  await pause(20);
  assert.equal(ended, 1);
});

test("parts close one after the other, the last one first, and once", async () => {
  const closed: string[] = [];
  const { add, close } = closedInTurn();
  const part = (name: string, ms: number) => ({
    async close() {
      await pause(ms);
      closed.push(name);
    },
  });
  const first = part("first", 0);
  assert.equal(add(first), first);
  add(part("second", 5));
  await close();
  await close();
  assert.deepEqual(closed, ["second", "first"]);
});

test.run();
