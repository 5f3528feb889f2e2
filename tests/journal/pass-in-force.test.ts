/**
 * Goal: a season is half-open, and so is the pass for it: in force from its first millisecond to
 * its last. Method: real Postgres, seasons that touch at the instants at which days, months and
 * years end; the select that folds a wallet's day and the statement that stores a star are asked
 * about the millisecond before and after each.
 */
import * as assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { suite } from "uvu";
import { DAY_MS, dayOf, startOfDay } from "../../actors/day.ts";
import { createGroupCommit } from "../../src/journal/group-commit.ts";
import { loadWalletDays } from "../../src/journal/load.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { decidedStar, goingFrom } from "../support/engine.ts";
import { testDatabase } from "../support/postgres.ts";

interface Context {
  sql: Sql;
  close(): Promise<void>;
}

const test = suite<Context>("pass in force");
test.before.each(async (context) => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 2, writer: true });
  context.sql = sql;
  context.close = async () => {
    await sql.end({ timeout: 1 });
    await database.close();
  };
});
test.after.each((context) => context.close());

interface Season {
  readonly id: string;
  readonly startsAt: number;
  readonly endsAt: number;
}

/** Seasons from each instant to the next. */
async function addSeasons(sql: Sql, instants: readonly number[]): Promise<readonly Season[]> {
  const seasons = instants.slice(1).map((endsAt, n) => {
    return { id: randomUUID(), startsAt: instants[n] ?? 0, endsAt };
  });
  for (const { id, startsAt, endsAt } of seasons) {
    await sql`insert into season (id, name, starts_at, ends_at) values (${id}, ${id}, ${startsAt}, ${endsAt})`;
  }
  return seasons;
}

async function grant(sql: Sql, wallet: number, seasons: readonly Season[]): Promise<void> {
  for (const { id } of seasons) {
    await sql`insert into premium_pass (wallet, season_id, granted_at) values (${wallet}, ${id}, 0)`;
  }
}

test("a wallet's day is loaded under the pass in force, to the millisecond", async ({ sql }) => {
  // Every instant asked about is later than the database's own.
  await sql.unsafe(
    "create or replace function now_ms() returns bigint language sql volatile as 'select 0::bigint'",
  );
  const instants = [
    "1999-12-31T00:00:00.000Z",
    "2016-12-31T23:59:59.999Z",
    "2026-11-20T12:00:00.000Z",
    "2026-11-21T00:00:00.000Z",
    "2027-01-01T00:00:00.001Z",
    "2027-03-28T01:00:00.000Z",
    "2028-02-29T00:00:00.000Z",
    "2028-03-01T00:00:00.000Z",
    "2100-03-01T00:00:00.000Z",
  ].map((text) => Date.parse(text));
  const seasons = await addSeasons(sql, instants);
  const [all, none] = [1_000, 1_001];
  await grant(sql, all, seasons);
  for (const [n, season] of seasons.entries()) await grant(sql, 2_000 + n, [season]);
  const seasonAt = async (wallet: number, notBefore: number) => {
    const key = { wallet: `0.0.${wallet}`, day: dayOf(notBefore), notBefore };
    return (await loadWalletDays(sql, [key]))[0]?.seasonId;
  };
  for (const [n, { id, startsAt, endsAt }] of seasons.entries()) {
    const own = [startsAt - 1, startsAt, endsAt - 1, endsAt].map((at) => seasonAt(2_000 + n, at));
    assert.deepEqual(await Promise.all(own), [null, id, id, null]);
    // Two seasons that touch leave no gap and do not overlap.
    const touching = [startsAt - 1, startsAt, endsAt - 1, endsAt].map((at) => seasonAt(all, at));
    const [before = null, after = null] = [seasons[n - 1]?.id, seasons[n + 1]?.id];
    assert.deepEqual(await Promise.all(touching), [before, id, id, after]);
    assert.equal(await seasonAt(none, startsAt), null);
  }
});

test("a star is stored under the pass of its own instant, and handed back under any other (A17 premium-edge, P3)", async ({
  sql,
}) => {
  const [row] = await sql<{ now: number }[]>`select now_ms() as now`;
  const now = row?.now ?? 0;
  const noon = startOfDay(dayOf(now)) + DAY_MS / 2;
  const [before, season, after] = await addSeasons(sql, [
    noon - 2_000,
    noon - 1_000,
    noon,
    noon + 1_000,
  ]);
  assert.ok(before && season && after);
  const { commit } = createGroupCommit({ sql, now: goingFrom(now) });
  let wallet = 1_000;
  /** Of a wallet that has a pass for these seasons. */
  const cast = async (at: number, seasonId: string | null, passes: readonly Season[]) => {
    wallet += 1;
    await grant(sql, wallet, passes);
    const decided = decidedStar({ wallet: `0.0.${wallet}`, now: at });
    const limit = seasonId === null ? 5 : 20;
    const outcome = await commit({ ...decided, star: { ...decided.star, limit, seasonId } });
    return outcome.kind === "stored" ? "stored" : outcome.reason;
  };
  const { id, startsAt, endsAt } = season;
  const instants = [startsAt - 1, startsAt, endsAt - 1, endsAt];
  const outcomes = async (seasonId: string | null, passes: readonly Season[]) => {
    const results = [];
    for (const at of instants) results.push(await cast(at, seasonId, passes));
    return results;
  };
  assert.deepEqual(await outcomes(id, [season]), ["pass", "stored", "stored", "pass"]);
  assert.deepEqual(await outcomes(null, [season]), ["stored", "pass", "pass", "stored"]);
  const touching = [before, season, after];
  assert.deepEqual(await outcomes(id, touching), ["pass", "stored", "stored", "pass"]);
  assert.deepEqual(await outcomes(before.id, touching), ["stored", "pass", "pass", "pass"]);
  assert.deepEqual(await outcomes(after.id, touching), ["pass", "pass", "pass", "stored"]);
  assert.deepEqual(await outcomes(null, touching), ["pass", "pass", "pass", "pass"]);
  assert.deepEqual(await outcomes(id, []), ["pass", "pass", "pass", "pass"]);
});

test.run();
