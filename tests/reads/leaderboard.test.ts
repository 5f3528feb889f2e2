/**
 * Goal: a leaderboard costs its own length, not the number of wallets. Method: 100,000 wallets,
 * many of them tied; the plan of the very statement is looked at, and its answer held against a
 * plain sort.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { addSeason } from "../../src/catalogue/seasons.ts";
import { readLeaderboard, readStanding } from "../../src/reads/leaderboard.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

const NOW = Date.UTC(2026, 10, 20, 8, 30);
const WALLETS = 100_000;
const LIMIT = 100;
/** Beyond it a wallet is told no rank. */
const RANKED_MAX = 10_000;

let database: TestDatabase;
let sql: Sql;
test.before(async () => {
  database = await testDatabase({ migrated: true });
  sql = openPostgres(database.url, { connections: 1 });
  const season = { name: "Autumn", startsAt: NOW - 1_000, endsAt: NOW + 1_000 };
  const { id } = await addSeason(sql, season);
  // Two hundred different points for all: ties run into the hundreds, and stars are tied as well.
  await sql.begin(async (tx) => {
    await tx`set local statement_timeout = '60s'`;
    await tx`insert into season_score (season_id, wallet, points, stars, weight)
      select ${id}, 1000 + n, n * 7919 % 200, n % 3, n % 9
      from generate_series(0, ${WALLETS - 1}::int) n order by n * 7919 % ${WALLETS}`;
  });
  await database.sql`analyze season_score`;
});
test.after(async () => {
  await sql.end();
  await database.close();
});

test("100,000 wallets, most of them tied: the first hundred, and a wallet's own rank, are those of a plain sort", async () => {
  const all = await sql<{ wallet: number; points: number; stars: number; weight: number }[]>`
    select wallet, points, stars, weight from season_score`;
  assert.equal(all.length, WALLETS);
  const sorted = [...all].sort(
    (a, b) => b.points - a.points || b.stars - a.stars || a.wallet - b.wallet,
  );
  const wanted = sorted.slice(0, LIMIT).map((row) => ({ ...row, wallet: `0.0.${row.wallet}` }));
  const { scores } = await readLeaderboard(sql, { limit: LIMIT, now: NOW });
  assert.deepEqual(scores, wanted);
  for (const place of [0, 1, LIMIT, RANKED_MAX - 1, RANKED_MAX]) {
    const account = sorted[place]?.wallet ?? 0;
    const standing = await readStanding(sql, { account, now: NOW });
    assert.equal(standing?.rank, place < RANKED_MAX ? place + 1 : null, `place ${place}`);
  }
});

test("only as many entries are read as are shown, also once the plan is kept", async () => {
  // A prepared statement gets its lasting plan after five calls.
  for (let times = 0; times < 6; times += 1) await readLeaderboard(sql, { limit: LIMIT, now: NOW });
  const before = await rowsRead();
  await readLeaderboard(sql, { limit: LIMIT, now: NOW });
  const after = await rowsRead();
  assert.equal(after.scanned, before.scanned, "no scan of all scores");
  assert.equal(after.byIndex - before.byIndex, LIMIT);
});

test("a wallet without points and stars is no entry", async () => {
  const { season } = await readLeaderboard(sql, { limit: 1, now: NOW });
  await sql`delete from season_score`;
  await sql`insert into season_score (season_id, wallet, points, stars, weight) values
    (${season?.id ?? ""}, 1001, 2, 1, 1), (${season?.id ?? ""}, 1002, 0, 1, 0),
    (${season?.id ?? ""}, 1003, 0, 0, 0)`;
  const { scores } = await readLeaderboard(sql, { limit: LIMIT, now: NOW });
  assert.deepEqual(
    scores.map(({ wallet }) => wallet),
    ["0.0.1001", "0.0.1002"],
  );
});

/** Rows of `season_score` that were read so far, by the server's own count. */
async function rowsRead(): Promise<{ scanned: number; byIndex: number }> {
  // The connection that reads reports its counts when its next statement ends.
  await sql`select pg_stat_force_next_flush()`;
  await sql`select 1`;
  const [row] = await sql<{ scanned: number; byIndex: number }[]>`
    select seq_tup_read as scanned, idx_tup_fetch as "byIndex" from pg_stat_user_tables
    where relname = 'season_score'`;
  if (row === undefined) throw new Error("no statistics");
  return row;
}

test.run();
