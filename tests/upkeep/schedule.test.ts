/**
 * Goal: the check is called when it may be due. Method: a check that counts its calls, and for whole
 * runs the real one with a clock that the test moves.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { dayOf } from "../../actors/day.ts";
import { silentLogger } from "../../src/log.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import {
  createHoldingsCheck,
  type DueOutcome,
  startHoldingsCheckSchedule,
} from "../../src/upkeep/holdings-check/check.ts";
import { seedDirectory } from "../support/engine.ts";
import { testDatabase } from "../support/postgres.ts";

const NEVER_MS = 3_600_000;
const NOTHING_DUE: DueOutcome = { kind: "nothing-due" };

/** A check that is called, and lets the test wait for its n-th call. */
function calledCheck(answer: (call: number) => DueOutcome | Error = () => NOTHING_DUE) {
  let calls = 0;
  const waiting: { readonly call: number; readonly resolve: () => void }[] = [];
  return {
    calls: () => calls,
    async reached(call: number): Promise<void> {
      // The schedule's own timers do not keep a process alive.
      const alive = setInterval(() => undefined, NEVER_MS);
      await new Promise<void>((resolve) => {
        if (calls >= call) resolve();
        else waiting.push({ call, resolve });
      });
      clearInterval(alive);
    },
    runDue: async (): Promise<DueOutcome> => {
      calls += 1;
      for (const { call, resolve } of waiting) if (calls >= call) resolve();
      const outcome = answer(calls);
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    close: async () => undefined,
  };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, "it did not come about in time");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A clock that runs, and reads this now. */
const clockAt = (at: number) => {
  const startedAt = performance.now();
  return { now: () => at + Math.round(performance.now() - startedAt) };
};
const NOON = Date.UTC(2026, 10, 20, 12);

test("the check is called at 00:00 UTC by the clock, not at the next tick", async () => {
  const clock = clockAt(Date.UTC(2026, 10, 20, 23, 59, 59, 700));
  const check = calledCheck();
  const deps = { check, clock, log: silentLogger, tickEveryMs: NEVER_MS };
  const schedule = startHoldingsCheckSchedule(deps);
  await check.reached(1);
  assert.equal(dayOf(clock.now()), "2026-11-20", "it asked once at its start");
  await check.reached(2);
  assert.equal(dayOf(clock.now()), "2026-11-21");
  await schedule.close();
  assert.equal(check.calls(), 2);
});

test("with a check that fails, the tick goes on", async () => {
  const check = calledCheck((call) => (call < 3 ? new Error("Postgres is away") : NOTHING_DUE));
  const deps = { check, clock: clockAt(NOON), log: silentLogger, tickEveryMs: 20 };
  const schedule = startHoldingsCheckSchedule(deps);
  await check.reached(5);
  await schedule.close();
});

test("what was left open is tried again when it said, not at the next tick", async () => {
  const open = (retryAfterMs: number | null): DueOutcome => ({
    kind: "checked",
    run: { id: "a run", day: "2026-11-20", kind: "scheduled", passes: 1 },
    retryAfterMs,
  });
  const check = calledCheck((call) => open(call === 1 ? 10 : null));
  const schedule = startHoldingsCheckSchedule({
    check,
    clock: clockAt(NOON),
    log: silentLogger,
    tickEveryMs: NEVER_MS,
  });
  await check.reached(2);
  await schedule.close();
  assert.equal(check.calls(), 2);
});

test("workers stopped over 00:00 and started at 09:00 make one run, eight of them at once (A23 scheduler-storm)", async () => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 8, role: "starboard_app" });
  await seedDirectory(sql);
  const clock = { at: Date.UTC(2026, 10, 20, 20), now: () => clock.at };
  const unread = () => assert.fail();
  const mirror = { nftOwners: unread, nft: unread, newestBlock: unread };
  const collections = { A: "0.0.5001", B: "0.0.5002" };
  const work = async (): Promise<void> => {
    const schedules = Array.from({ length: 8 }, () =>
      startHoldingsCheckSchedule({
        check: createHoldingsCheck({ sql, mirror, clock, log: silentLogger, collections }),
        clock,
        log: silentLogger,
        tickEveryMs: 50,
      }),
    );
    await until(async () => {
      const [row] = await sql<{ n: number }[]>`
        select count(*) as n from holdings_check_run
        where day = ${new Date(clock.at).toISOString().slice(0, 10)} and state <> 'running'`;
      return row?.n === 1;
    });
    await Promise.all(schedules.map((schedule) => schedule.close()));
  };
  await work();
  clock.at = Date.UTC(2026, 10, 21, 9);
  await work();
  const runs = await sql`select day, state, passes from holdings_check_run order by day`;
  assert.deepEqual(
    runs.map((run) => ({ ...run })),
    [
      { day: "2026-11-20", state: "skipped", passes: 0 },
      { day: "2026-11-21", state: "done", passes: 1 },
    ],
  );
  await sql.end({ timeout: 1 });
  await database.close();
});

test.run();
