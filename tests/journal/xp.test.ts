/**
 * Goal: "Voting credits 1 XP per accepted star", with the star, and the scores are what the ledger
 * adds up to. Method: decided stars are sent straight to the statement that stores them, around
 * the edges of seasons; then the projection is held against a fold made here.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { DAY_MS, dayOf } from "../../actors/day.ts";
import { creditXp } from "../../src/catalogue/credit-xp.ts";
import { addSeason } from "../../src/catalogue/seasons.ts";
import { createGroupCommit } from "../../src/journal/group-commit.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { decidedStar, goingFrom, lastStarOf, SEEDED_WITHIN_MS } from "../support/engine.ts";
import { patiently } from "../support/patiently.ts";
import { testDatabase } from "../support/postgres.ts";
import { foldedScores, scores } from "../support/xp.ts";

interface Context {
  sql: Sql;
  /** An instant of today, far enough from midnight for a season to end on either side of it. */
  now: number;
  /** Postgres' time. */
  clock: () => number;
  cast(star: {
    wallet: number;
    at: number;
    slot?: number;
    xpPerStar?: number;
    a?: number[];
  }): Promise<string>;
  close(): Promise<void>;
}

const test = suite<Context>("xp");

test.before.each(async (context) => {
  const database = await testDatabase({ migrated: true });
  const options = { connections: 6, writer: true, statementTimeoutMs: SEEDED_WITHIN_MS };
  const sql = openPostgres(database.url, options);
  const [row] = await sql<{ now: number }[]>`select now_ms() as now`;
  const today = Date.parse(dayOf(row?.now ?? 0));
  const now = Math.min(Math.max(row?.now ?? 0, today + 60_000), today + DAY_MS - 60_000);
  const clock = goingFrom(row?.now ?? 0);
  Object.assign(context, {
    sql,
    now,
    clock,
    async cast({ wallet, at, slot = 1, xpPerStar, a }) {
      const { commit } = createGroupCommit({
        sql,
        now: clock,
        ...(xpPerStar !== undefined && { xpPerStar }),
      });
      const target = {
        type: "event",
        id: `e${slot}`,
        eventKind: "HACKATHON",
        ledgerId: null,
      } as const;
      const claims = a && { a, b: null };
      const follows = await lastStarOf(sql, wallet);
      const star = { wallet: `0.0.${wallet}`, now: at, slot, follows };
      const decided = decidedStar(claims ? { ...star, target, claims } : star);
      const outcome = await patiently(() => commit(decided));
      return outcome.kind === "stored" ? outcome.kind : outcome.reason;
    },
    close: async () => {
      await sql.end({ timeout: 1 });
      await database.close();
    },
  } satisfies Context);
});
test.after.each((context) => context.close());

/** Of one wallet and season. */
const scoreOf = async (sql: Sql, wallet: number) => {
  const [score] = (await scores(sql)).filter((row) => row.wallet === wallet);
  return score && [score.season, score.points, score.stars, score.weight];
};

test("a season that ends mid-day: half-open, by the star's own instant", async ({
  sql,
  now,
  cast,
}) => {
  await addSeason(sql, { name: "first", startsAt: now - 1_000, endsAt: now });
  await addSeason(sql, { name: "second", startsAt: now, endsAt: now + 1_000 });
  for (const [wallet, at] of [
    [1, now - 1_001],
    [2, now - 1_000],
    [3, now - 1],
    [4, now],
    [5, now + 999],
    [6, now + 1_000],
  ] as const) {
    assert.equal(await cast({ wallet, at }), "stored");
  }
  assert.deepEqual(await scores(sql), [
    { season: "first", wallet: 2, points: 1, stars: 1, weight: 1 },
    { season: "first", wallet: 3, points: 1, stars: 1, weight: 1 },
    { season: "second", wallet: 4, points: 1, stars: 1, weight: 1 },
    { season: "second", wallet: 5, points: 1, stars: 1, weight: 1 },
  ]);
  assert.deepEqual(await foldedScores(sql), await scores(sql));
  await sql`select fold_season(id) from season`;
  assert.deepEqual(await foldedScores(sql), await scores(sql), "repaired by hand");
  const [ledger] = await sql`select count(*) as rows, sum(points) as points from xp_ledger`;
  assert.deepEqual({ ...ledger }, { rows: 6, points: 6 }, "booked outside seasons as well");
});

test("points are XP_PER_STAR each, whatever the weight; weight adds up beside them", async ({
  sql,
  now,
  cast,
}) => {
  await addSeason(sql, { name: "s", startsAt: now - 1_000, endsAt: now + 1_000 });
  await cast({ wallet: 1, at: now, xpPerStar: 7 });
  await cast({ wallet: 1, at: now + 1, slot: 2, xpPerStar: 7, a: [1, 2, 3] });
  await cast({ wallet: 2, at: now, xpPerStar: 0 });
  await cast({ wallet: 3, at: now });
  assert.deepEqual(await scoreOf(sql, 1), ["s", 14, 2, 5]);
  assert.deepEqual(await scoreOf(sql, 2), ["s", 0, 1, 1]);
  assert.deepEqual(await scoreOf(sql, 3), ["s", 1, 1, 1]);
  assert.deepEqual(await foldedScores(sql), await scores(sql));
});

test("stars of one batch: many wallets, and several stars of one", async ({ sql, now, clock }) => {
  await addSeason(sql, { name: "s", startsAt: now - 1_000, endsAt: now + 1_000 });
  const { commit } = createGroupCommit({ sql, now: clock, xpPerStar: 2 });
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, (_, n) => commit(decidedStar({ wallet: `0.0.${100 - n}`, now }))),
  );
  assert.ok(outcomes.every(({ kind }) => kind === "stored"));
  assert.equal((await scores(sql)).length, 100);
  assert.deepEqual(await foldedScores(sql), await scores(sql));
});

test("a star that is not stored earns nothing: one too many, another day, a lost serial", async ({
  sql,
  now,
  cast,
}) => {
  await addSeason(sql, { name: "s", startsAt: now - DAY_MS, endsAt: now + 2 * DAY_MS });
  assert.equal(await cast({ wallet: 1, at: now, a: [9] }), "stored");
  assert.equal(await cast({ wallet: 1, at: now + 1 }), "slot");
  assert.equal(await cast({ wallet: 2, at: now, a: [9] }), "claim");
  assert.equal(await cast({ wallet: 3, at: now + DAY_MS }), "day");
  assert.deepEqual(
    (await scores(sql)).map(({ wallet, points }) => [wallet, points]),
    [[1, 1]],
  );
  const [ledger] = await sql`select sum(points) as points from xp_ledger`;
  assert.equal(ledger?.points, 1);
});

test("a season added late finds what was earned since its start; a moved season is folded again", async ({
  sql,
  now,
  cast,
}) => {
  await cast({ wallet: 1, at: now - 500, xpPerStar: 3 });
  await cast({ wallet: 2, at: now - 1_500 });
  const credit = { id: "k", wallet: "0.0.2", points: 40, reason: "mission" };
  const { creditedAt, seasonId } = await creditXp(sql, credit);
  assert.equal(seasonId, null, "no season is on");
  const season = await addSeason(sql, { name: "s", startsAt: now - 1_000, endsAt: now + DAY_MS });
  assert.deepEqual(await scoreOf(sql, 1), ["s", 3, 1, 1]);
  assert.deepEqual(await foldedScores(sql), await scores(sql));
  assert.equal(
    (await creditXp(sql, credit)).seasonId,
    creditedAt >= now - 1_000 ? season.id : null,
  );
  await sql`update season set starts_at = ${now - 2_000}`;
  assert.deepEqual((await scoreOf(sql, 2))?.slice(2), [1, 1]);
  assert.deepEqual(await foldedScores(sql), await scores(sql));
  await sql`delete from season`;
  assert.deepEqual(await scores(sql), []);
});

test("seasons come and go while stars are stored and points booked: the scores stay the ledger's", async ({
  sql,
  now,
  cast,
}) => {
  let isDone = false;
  const change = async () => {
    for (let turn = 0; !isDone; turn += 1) {
      await addSeason(sql, { name: `s${turn}`, startsAt: now - 10_000, endsAt: now + DAY_MS });
      await sql`update season set starts_at = ${now - 5_000}`;
      if (!isDone) await sql`delete from season`;
    }
  };
  const walk = async (walker: number) => {
    for (let n = 0; n < 40; n += 1) {
      const wallet = 1_000 * walker + (n % 20);
      const slot = n < 20 ? 1 : 2;
      assert.equal(await cast({ wallet, at: now + n, slot, a: [walker * 100 + n] }), "stored");
      const credit = { id: `${walker}/${n}`, wallet: `0.0.${wallet}`, points: 2, reason: "r" };
      await patiently(() => creditXp(sql, credit));
    }
  };
  const walking = Promise.all([1, 2, 3].map(walk)).finally(() => {
    isDone = true;
  });
  await Promise.all([walking, change()]);
  const [left] = await sql`select count(*) as seasons from season`;
  if (left?.seasons === 0)
    await addSeason(sql, { name: "last", startsAt: now - 10_000, endsAt: now + DAY_MS });
  assert.equal((await scores(sql)).length, 60);
  assert.deepEqual(await foldedScores(sql), await scores(sql));
});

test("a ledger is not rewritten: neither a star's XP nor a credit, and neither is taken away", async ({
  sql,
  now,
  cast,
}) => {
  await cast({ wallet: 1, at: now });
  await creditXp(sql, { id: "k", wallet: "0.0.1", points: 1, reason: "r" });
  for (const change of [
    "update star set xp = 100",
    "update xp_credit set points = 100",
    "delete from xp_credit",
    "truncate xp_credit",
  ]) {
    await assert.rejects(sql.unsafe(change), { code: "SB403" }, change);
  }
});

test.run();
