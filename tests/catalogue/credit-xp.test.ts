/**
 * Goal: "idempotent by KEY", also for twins side by side, and a correction takes no more than
 * there is. Method: on a real Postgres, with a pool for each of two processes.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { creditXp, type XpCredit } from "../../src/catalogue/credit-xp.ts";
import { addSeason } from "../../src/catalogue/seasons.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { testDatabase } from "../support/postgres.ts";
import { foldedScores, scores } from "../support/xp.ts";

interface Context {
  sql: Sql;
  /** Another process' pool. */
  other: Sql;
  now: number;
  close(): Promise<void>;
}

const test = suite<Context>("xp credit");

test.before.each(async (context) => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 4 });
  const other = openPostgres(database.url, { connections: 4 });
  const [row] = await sql<{ now: number }[]>`select now_ms() as now`;
  const close = async () => {
    await Promise.all([sql.end({ timeout: 1 }), other.end({ timeout: 1 })]);
    await database.close();
  };
  Object.assign(context, { sql, other, now: row?.now ?? 0, close } satisfies Context);
});
test.after.each((context) => context.close());

const mission: XpCredit = { id: "mission-1", wallet: "0.0.1001", points: 25, reason: "a mission" };
const season = (now: number, name = "s") => ({
  name,
  startsAt: now - 1_000,
  endsAt: now + 3_600_000,
});
const bookings = async (sql: Sql) =>
  (await sql<{ points: number }[]>`select points from xp_credit order by at, key`).map(
    ({ points }) => points,
  );

test("a credit is booked in the current season, once per id, and a repeat has the same outcome", async ({
  sql,
  now,
}) => {
  const { id } = await addSeason(sql, season(now));
  const first = await creditXp(sql, mission);
  assert.deepEqual(first, { ...mission, seasonId: id, creditedAt: first.creditedAt });
  assert.ok(first.creditedAt >= now);
  assert.deepEqual(await creditXp(sql, mission), first);
  assert.deepEqual(await creditXp(sql, { ...mission, reason: "  a mission " }), first);
  assert.deepEqual(await scores(sql), [
    { season: "s", wallet: 1001, points: 25, stars: 0, weight: 0 },
  ]);
  await creditXp(sql, { ...mission, id: "mission-2" });
  assert.deepEqual(await foldedScores(sql), await scores(sql));
  assert.deepEqual(await bookings(sql), [25, 25]);
});

test("the id of another credit is refused, whatever differs, and books nothing", async ({
  sql,
  now,
}) => {
  await addSeason(sql, season(now));
  await creditXp(sql, mission);
  for (const other of [
    { wallet: "0.0.1002" },
    { points: 26 },
    { points: -25 },
    { reason: "another" },
  ]) {
    await assert.rejects(creditXp(sql, { ...mission, ...other }), {
      code: "IDEMPOTENCY_KEY_REUSED",
      message: "the id mission-1 is of another credit: 25 to 0.0.1001, a mission",
    });
  }
  assert.deepEqual(await bookings(sql), [25]);
  assert.equal((await scores(sql)).length, 1);
});

test("twins side by side in two processes: one booking, one outcome", async ({
  sql,
  other,
  now,
}) => {
  await addSeason(sql, season(now));
  for (let round = 0; round < 25; round += 1) {
    const credit = { ...mission, id: `round-${round}` };
    const outcomes = await Promise.all(
      [sql, other, sql, other].map((pool) => creditXp(pool, credit)),
    );
    for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0]);
  }
  assert.equal((await bookings(sql)).length, 25);
  assert.deepEqual(await scores(sql), [
    { season: "s", wallet: 1001, points: 625, stars: 0, weight: 0 },
  ]);
});

test("twins that differ: one is booked, the other refused", async ({ sql, other, now }) => {
  await addSeason(sql, season(now));
  for (let round = 0; round < 15; round += 1) {
    const id = `round-${round}`;
    const outcomes = await Promise.allSettled([
      creditXp(sql, { ...mission, id, points: 1 }),
      creditXp(other, { ...mission, id, points: 2 }),
    ]);
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  }
  assert.equal((await bookings(sql)).length, 15);
  assert.deepEqual(await foldedScores(sql), await scores(sql));
});

test("a correction takes back what the wallet has in the season, down to nothing and no further", async ({
  sql,
  other,
  now,
}) => {
  await addSeason(sql, season(now));
  await creditXp(sql, mission);
  const taken = { ...mission, id: "sorry", points: -24 };
  assert.deepEqual(await creditXp(sql, taken), await creditXp(sql, taken));
  const tooMuch = {
    code: "INVALID_REQUEST",
    message: /no season is on in which 0\.0\.1001 has 2 points/,
  };
  await assert.rejects(creditXp(sql, { ...mission, id: "2", points: -2 }), tooMuch);
  await assert.rejects(
    creditXp(sql, { ...mission, id: "3", wallet: "0.0.7", points: -1 }),
    /0\.0\.7/,
  );
  // The last point can be taken once.
  const outcomes = await Promise.allSettled(
    [sql, other, sql, other].map((pool, n) =>
      creditXp(pool, { ...mission, id: `last-${n}`, points: -1 }),
    ),
  );
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
  assert.deepEqual(await scores(sql), [
    { season: "s", wallet: 1001, points: 0, stars: 0, weight: 0 },
  ]);
  assert.deepEqual(await foldedScores(sql), await scores(sql));
  assert.deepEqual(await bookings(sql), [25, -24, -1]);
});

test("a season is over in the millisecond in which it ends: nothing of it is taken back then", async ({
  sql,
  now,
}) => {
  const endsAt = now + 3_600_000;
  await addSeason(sql, { ...season(now, "first"), endsAt });
  await addSeason(sql, { name: "second", startsAt: endsAt, endsAt: endsAt + 1_000 });
  await creditXp(sql, mission);
  await sql.unsafe(
    `create or replace function now_ms() returns bigint language sql volatile as 'select ${endsAt}::bigint'`,
  );
  await assert.rejects(creditXp(sql, { ...mission, id: "2", points: -1 }), {
    code: "INVALID_REQUEST",
  });
  assert.deepEqual(await bookings(sql), [25]);
  assert.deepEqual(await foldedScores(sql), await scores(sql));
});

test("while no season is on, points are stored and on no leaderboard, and none can be taken back", async ({
  sql,
  now,
}) => {
  await addSeason(sql, { name: "over", startsAt: now - 2_000, endsAt: now - 1_000 });
  assert.equal((await creditXp(sql, mission)).seasonId, null);
  await assert.rejects(creditXp(sql, { ...mission, id: "2", points: -1 }), {
    code: "INVALID_REQUEST",
  });
  assert.deepEqual(await bookings(sql), [25]);
  assert.deepEqual(await scores(sql), []);
});

test("an invalid credit is refused before the database is asked", async () => {
  const absent = openPostgres("postgres://absent@127.0.0.1:1/nowhere");
  for (const [field, wrong] of [
    ["wallet", { wallet: "1001" }],
    ["wallet", { wallet: "0.0.01001" }],
    ["points", { points: 0 }],
    ["points", { points: 1.5 }],
    ["points", { points: Number.NaN }],
    ["points", { points: 1_000_000_000 }],
    ["points", { points: -1_000_000_000 }],
    ["id", { id: "" }],
    ["id", { id: "x".repeat(256) }],
    ["id", { id: "a\u0000b" }],
    ["reason", { reason: "  " }],
    ["reason", { reason: "x".repeat(301) }],
    ["reason", { reason: "two\nlines" }],
  ] as const) {
    await assert.rejects(creditXp(absent, { ...mission, ...wrong }), {
      code: "INVALID_REQUEST",
      details: { field },
    });
  }
  await absent.end();
});

test.run();
