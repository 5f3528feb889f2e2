/**
 * Goal: the check takes place once per UTC day, late if no worker ran at 00:00, whichever process calls
 * and however often. Method: several workers with a clock that the test moves; no mirror node
 * is needed where nothing counts.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { dayOf } from "../../../actors/day.ts";
import { silentLogger } from "../../../src/log.ts";
import { openPostgres, type Sql } from "../../../src/store/postgres.ts";
import type { Redis } from "../../../src/store/redis.ts";
import {
  checkByHand,
  type HoldingsCheckByHand,
} from "../../../src/upkeep/holdings-check/by-hand.ts";
import {
  createHoldingsCheck,
  type HoldingsCheck,
  type HoldingsCheckDeps,
} from "../../../src/upkeep/holdings-check/check.ts";
import { seedDirectory } from "../../support/engine.ts";
import { type TestDatabase, testDatabase } from "../../support/postgres.ts";
import { gate } from "./stage.ts";

interface Setting {
  database: TestDatabase;
  sql: Sql;
  clock: { at: number; now(): number };
  worker(changes?: Partial<HoldingsCheckDeps>): HoldingsCheck;
  /** The console of another web process. */
  consoleOf(changes: Partial<HoldingsCheckDeps>): HoldingsCheckByHand;
}

const test = suite<Setting>("runs of the holdings check");
const NOON = Date.UTC(2026, 10, 20, 12);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test.before.each(async (context) => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 8 });
  await seedDirectory(sql);
  const clock = { at: NOON, now: () => clock.at };
  const mirror = {
    nftOwners: () => assert.fail("nothing counts, so nothing is to be read"),
    nft: () => assert.fail("nothing counts, so nothing is to be read"),
    newestBlock: () => assert.fail("nothing counts, so nothing is to be read"),
  };
  const collections = { A: "0.0.5001", B: "0.0.5002" };
  const deps = { sql, mirror, clock, log: silentLogger, collections };
  // The one command that a run uses.
  const redis = { set: async () => "OK" } as unknown as Redis;
  Object.assign(context, {
    ...{ database, sql, clock },
    worker: (changes) => createHoldingsCheck({ ...deps, ...changes }),
    consoleOf: (changes) => checkByHand({ ...deps, redis, ...changes }),
  } satisfies Setting);
});
test.after.each(async ({ sql, database }) => {
  await sql.end({ timeout: 1 });
  await database.close();
});

async function runs(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ day: string; kind: string; state: string }[]>`
    select day, kind, state from holdings_check_run order by started_at, day`;
  return rows.map(({ day, kind, state }) => `${day} ${kind} ${state}`);
}

test("the day of the first start counts as checked, and the next day is checked", async ({
  sql,
  clock,
  worker,
}) => {
  assert.deepEqual(await worker().runDue(), { kind: "nothing-due" });
  clock.at = NOON + 12 * HOUR - 1;
  assert.deepEqual(
    await worker().runDue(),
    { kind: "nothing-due" },
    "23:59:59.999 is the same day",
  );
  clock.at += 1;
  const outcome = await worker().runDue();
  assert.ok(outcome.kind === "checked", "00:00:00.000 belongs to the new day");
  assert.equal(outcome.run.day, "2026-11-21");
  assert.deepEqual(await runs(sql), ["2026-11-20 scheduled skipped", "2026-11-21 scheduled done"]);
});

test("a journal that came back into an empty database is not new: its day is checked", async ({
  sql,
  worker,
}) => {
  await sql`insert into recovered_day (day) values ('2026-11-19')`;
  assert.equal((await worker().runDue()).kind, "checked");
  assert.deepEqual(await runs(sql), ["2026-11-20 scheduled done"]);
});

test("no day is checked while the journal lacks stars of its topics, nor on a copy whose topics are unread", async ({
  sql,
  clock,
  worker,
}) => {
  await worker().runDue();
  clock.at += DAY;
  await sql`insert into journal_home (identity) values ('the server it was copied from')`;
  assert.equal((await worker().runDue()).kind, "nothing-due");
  await sql`update journal_home set identity = database_identity()`;
  await sql`insert into publishing_finding (kind, topic_id, sequence_number, detail)
    values ('lost', '0.0.502', 99, '')`;
  assert.equal((await worker().runDue()).kind, "nothing-due");
  await sql`update publishing_finding set resolved_at = now_ms()`;
  assert.equal((await worker().runDue()).kind, "checked");
  assert.deepEqual(await runs(sql), ["2026-11-20 scheduled skipped", "2026-11-21 scheduled done"]);
});

test("stopped over 00:00 and started at 09:00, a worker makes one run; after days off, one as well", async ({
  sql,
  clock,
  worker,
}) => {
  await worker().runDue();
  clock.at = NOON + 21 * HOUR;
  for (let call = 0; call < 3; call += 1) await worker().runDue();
  clock.at += 5 * DAY;
  for (let call = 0; call < 3; call += 1) await worker().runDue();
  assert.deepEqual(await runs(sql), [
    "2026-11-20 scheduled skipped",
    "2026-11-21 scheduled done",
    "2026-11-26 scheduled done",
  ]);
});

test("eight workers that boot together, twenty days in a row, make one run a day (A23 scheduler-storm, P11)", async ({
  sql,
  clock,
  worker,
}) => {
  for (let day = 0; day <= 20; day += 1) {
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => worker().runDue()));
    const checked = outcomes.filter(({ kind }) => kind === "checked");
    assert.equal(checked.length, day === 0 ? 0 : 1, dayOf(clock.at));
    clock.at += DAY;
  }
  const [row] = await sql`
    select count(*) as runs, count(distinct day) as days, sum(passes) as passes
    from holdings_check_run`;
  assert.deepEqual({ ...row }, { runs: 21, days: 21, passes: 20 });
});

test("calls within one process share one pass", async ({ worker }) => {
  const one = worker();
  await one.runDue();
  assert.equal(one.runDue(), one.runDue());
  await one.runDue();
});

test("runs by hand are any number, and count for no day", async ({ sql, clock, worker }) => {
  await worker().runNow();
  await worker().runDue();
  await worker().runNow();
  clock.at += DAY;
  await worker().runNow();
  assert.equal((await worker().runDue()).kind, "checked");
  assert.deepEqual([...(await runs(sql))].sort(), [
    "2026-11-20 manual done",
    "2026-11-20 manual done",
    "2026-11-20 scheduled skipped",
    "2026-11-21 manual done",
    "2026-11-21 scheduled done",
  ]);
});

test("of two presses of the button at once, in two processes, one starts a run and both are answered with it", async ({
  sql,
  clock,
  worker,
  consoleOf,
}) => {
  await worker().runDue();
  const stop = gate();
  const failpoint = (name: string) => (name === "forever.reported" ? stop.pass() : undefined);
  const processes = [consoleOf({ failpoint }), consoleOf({ failpoint })];
  const presses = processes.map((each) => each.startRun());
  await stop.arrival;
  // The press that started the run waits for it.
  await Promise.race(presses);
  const late = await consoleOf({}).startRun();
  stop.open();
  const states = await Promise.all(presses);
  assert.deepEqual(new Set(states.map(({ id }) => id)), new Set([late.id]));
  assert.deepEqual(states.map(({ state }) => state).sort(), ["done", "under way"]);
  assert.equal(late.state, "under way");
  assert.deepEqual(await runs(sql), ["2026-11-20 scheduled skipped", "2026-11-20 manual done"]);
  clock.at += 1;
  const next = await consoleOf({}).startRun();
  assert.equal(next.state, "done");
  assert.notEqual(next.id, late.id);
});

test("a press while the day's run is under way is answered with that", async ({
  sql,
  clock,
  worker,
  consoleOf,
}) => {
  await worker().runDue();
  clock.at += DAY;
  const stop = gate();
  const due = worker({ failpoint: stop.pass }).runDue();
  await stop.arrival;
  const press = await consoleOf({}).startRun();
  stop.open();
  const outcome = await due;
  assert.ok(outcome.kind === "checked");
  assert.deepEqual(press, { id: outcome.run.id, state: "under way" });
  assert.deepEqual(await runs(sql), ["2026-11-20 scheduled skipped", "2026-11-21 scheduled done"]);
});

test("of two presses for a dry run at once one starts it", async ({ consoleOf }) => {
  const one = consoleOf({});
  const [first, second] = await Promise.allSettled([
    one.startDryRun("Ada"),
    one.startDryRun("Bob"),
  ]);
  assert.equal(first?.status, "fulfilled");
  assert.ok(second?.status === "rejected");
  assert.equal(second.reason.code, "INVALID_REQUEST");
});

test("a run left open ends with its day, and one by hand that died ends too", async ({
  sql,
  clock,
  worker,
}) => {
  await worker().runDue();
  await sql`
    insert into holdings_check_run (id, day, kind, state, started_at, lease_until, next_try_at)
    values (gen_random_uuid(), '2026-11-21', 'scheduled', 'running', ${NOON + DAY}, 0, ${NOON + DAY + HOUR}),
      (gen_random_uuid(), '2026-11-21', 'manual', 'running', ${NOON + DAY + 1}, ${NOON + DAY + 30_000}, 0)`;
  clock.at = NOON + DAY + 20_000;
  assert.deepEqual(
    await worker().runDue(),
    { kind: "nothing-due" },
    "to be tried again in an hour",
  );
  assert.equal((await runs(sql)).includes("2026-11-21 manual running"), true, "it may still live");
  clock.at = NOON + 2 * DAY;
  assert.equal((await worker().runDue()).kind, "checked");
  assert.deepEqual(await runs(sql), [
    "2026-11-20 scheduled skipped",
    "2026-11-21 scheduled incomplete",
    "2026-11-21 manual incomplete",
    "2026-11-22 scheduled done",
  ]);
});

test("a clock that was ahead and went back holds no worker up", async ({ sql, clock, worker }) => {
  await worker().runDue();
  await sql`
    insert into holdings_check_run (id, day, kind, state, started_at, lease_owner, lease_until, next_try_at)
    values (gen_random_uuid(), '2026-11-21', 'scheduled', 'running', ${NOON + 9 * DAY}, 'gone',
      ${NOON + 9 * DAY}, ${NOON + 9 * DAY})`;
  clock.at = NOON + DAY;
  assert.equal((await worker().runDue()).kind, "checked");
});

test("with Postgres out of reach a run is refused as unavailable", async ({ clock }) => {
  const gone = openPostgres("postgres://absent@127.0.0.1:9/nothing", { connections: 1 });
  const unread = () => assert.fail();
  const mirror = { nftOwners: unread, nft: unread, newestBlock: unread };
  const collections = { A: "0.0.1", B: "0.0.2" };
  const check = createHoldingsCheck({ sql: gone, mirror, clock, log: silentLogger, collections });
  await assert.rejects(check.runDue(), { code: "UNAVAILABLE" });
  await assert.rejects(check.runNow(), { code: "UNAVAILABLE" });
  await gone.end({ timeout: 0 });
});

test.run();
