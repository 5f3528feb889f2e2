import * as assert from "node:assert/strict";
import { test } from "uvu";
import { chainHash, GENESIS } from "../../src/journal/export-format.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { readVerdict } from "../../src/upkeep/service-verdict.ts";
import { testDatabase } from "../support/postgres.ts";

const DAILY = "00000000-0000-4000-8000-000000000001";
const BY_HAND = "00000000-0000-4000-8000-000000000002";

test("what a check by hand left open, and the day's own run has done since, is no trouble", async () => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 1 });
  const left = { collection: "A", serial: null, starId: null, wallet: null, reason: "mirror" };
  await sql`insert into holdings_check_run (id, day, kind, state, started_at, finished_at, passes) values
    (${DAILY}, utc_day(now_ms()), 'scheduled', 'done', now_ms() - 900000, now_ms() - 300000, 4),
    (${BY_HAND}, utc_day(now_ms()), 'manual', 'incomplete', now_ms() - 600000, now_ms() - 590000, 1)`;
  await sql`insert into holdings_check_mint (run_id, event_id, kept, deferred)
    values (${BY_HAND}, 'mint', 0, ${JSON.stringify([left])}::text::jsonb)`;
  const isOk = async () => {
    const { checks } = await readVerdict(sql);
    return checks.find(({ name }) => name === "holdings-check")?.ok;
  };
  assert.equal(await isOk(), true);
  await sql`update holdings_check_run set finished_at = now_ms() - 100 where id = ${BY_HAND}`;
  assert.equal(await isOk(), false);
  await sql.end({ timeout: 1 });
  await database.close();
});

test("a run by hand that was killed ends with its lease: it hides nothing, and a later run makes up for it", async () => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 1 });
  const judged = async () => {
    const { checks } = await readVerdict(sql);
    return checks.find(({ name }) => name === "holdings-check");
  };
  await sql`insert into holdings_check_run (id, day, kind, state, started_at, finished_at, passes) values
    (${DAILY}, utc_day(now_ms()), 'scheduled', 'done', now_ms() - 90000, now_ms() - 80000, 1)`;
  await sql`insert into holdings_check_run (id, day, kind, state, started_at, lease_owner, lease_until, passes)
    values (${BY_HAND}, utc_day(now_ms()), 'manual', 'running', now_ms() - 60000, 'gone', now_ms() + 20000, 1)`;
  assert.equal((await judged())?.ok, true, "its process may still be at work");
  await sql`update holdings_check_run set lease_until = now_ms() - 5000 where id = ${BY_HAND}`;
  assert.deepEqual((await judged())?.message, "the last run ended with parts left open");
  // Before that lease was over.
  await sql`insert into holdings_check_run (id, day, kind, state, started_at, finished_at, passes)
    values (gen_random_uuid(), utc_day(now_ms()), 'manual', 'done', now_ms() - 20000, now_ms() - 10000, 1)`;
  assert.equal((await judged())?.ok, true);
  await sql`select from take_holdings_check(utc_day(now_ms()), 'worker', now_ms(), 30000)`;
  const [{ state } = { state: "" }] = await sql<{ state: string }[]>`
    select state from holdings_check_run where id = ${BY_HAND}`;
  assert.equal(state, "incomplete");
  assert.equal((await judged())?.ok, true, "once a worker has written it down, too");
  await sql.end({ timeout: 1 });
  await database.close();
});

test("a check that goes on for more than an hour, one that leaves parts open and one of yesterday are troubles", async () => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 1 });
  const MINUTE = 60_000;
  const DAY = 24 * 60 * MINUTE;
  const judged = async (state: "running" | "done", minutesAgo: number) => {
    const [now] = await sql<[{ at: number }]>`select now_ms() as at`;
    const at = now.at - minutesAgo * MINUTE;
    await sql`update holdings_check_run set state = ${state}, started_at = ${at},
      finished_at = ${state === "done" ? at : null}, lease_until = now_ms() + 20000`;
    const { checks } = await readVerdict(sql);
    const { ok, message, since } = checks.find(({ name }) => name === "holdings-check") ?? {};
    return ok ? null : [message, Date.parse(since ?? "") - at];
  };
  await sql`insert into holdings_check_run (id, day, kind, state, started_at, finished_at, passes)
    values (${DAILY}, utc_day(now_ms()), 'scheduled', 'done', 0, 0, 1)`;
  assert.equal(await judged("running", 59), null);
  assert.deepEqual(await judged("running", 61), ["the last run has not ended", 0]);
  assert.equal(await judged("done", 25 * 60 - 1), null);
  assert.deepEqual(await judged("done", 25 * 60 + 1), ["no run for more than a day", DAY]);
  await sql`insert into holdings_check_mint (run_id, event_id, kept, deferred)
    values (${DAILY}, 'mint', 0, '[{"collection":"A"}]')`;
  assert.deepEqual(await judged("running", 1), ["1 part left open", 0]);
  await sql.end({ timeout: 1 });
  await database.close();
});

test("a day that became final by a clock that was ahead takes no star, and the verdict says so", async () => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 1 });
  const judged = async () => {
    const { checks } = await readVerdict(sql);
    return checks.find(({ name }) => name === "exports");
  };
  const sha256 = "a".repeat(64);
  const makeFinal = async (daysAgo: number, previous: string): Promise<string> => {
    const chain = chainHash(previous, sha256);
    await sql`insert into export_day (day, header, stars, releases, bytes, sha256, previous, chain)
      values (utc_day(now_ms()) - ${daysAgo}::integer, '{}', 0, 0, 1, ${sha256}, ${previous}, ${chain})`;
    return chain;
  };
  const yesterday = await makeFinal(1, GENESIS);
  assert.equal((await judged())?.ok, true);
  await makeFinal(0, yesterday);
  const { ok, message } = (await judged()) ?? {};
  assert.equal(ok, false);
  assert.match(
    message ?? "",
    /^[\d-]{10} is final, .* no star is taken before [\d-]{10}T00:00:00\.000Z$/,
  );
  await sql`insert into export_check (day, sha256, checked_at)
    values (utc_day(now_ms()) - 1, ${"b".repeat(64)}, now_ms())`;
  assert.equal(
    (await judged())?.message,
    "the journal of 1 final day was changed",
    "it hides none",
  );
  await sql.end({ timeout: 1 });
  await database.close();
});

test.run();
