/**
 * Goal: seasons are added beside the voting and moved by hand, and the scores stay what the ledger adds
 * up to, whichever part of a fold a star or a credit meets. Method: real connections; the fold is
 * held up between its parts, or stretched there, while stars go on; the scores are held against
 * a fold of the ledger as of the same commit.
 */
import * as assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "uvu";
import { DAY_MS, dayOf } from "../../actors/day.ts";
import { creditXp } from "../../src/catalogue/credit-xp.ts";
import { addSeason } from "../../src/catalogue/seasons.ts";
import { createGroupCommit } from "../../src/journal/group-commit.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { decidedStar, goingFrom, lastStarOf, SEEDED_WITHIN_MS } from "../support/engine.ts";
import { patiently } from "../support/patiently.ts";
import { testDatabase } from "../support/postgres.ts";
import { until } from "../support/processes.ts";
import { reserveConnection } from "../support/reserve-connection.ts";
import { foldedScores, scores } from "../support/xp.ts";

interface Context {
  sql: Sql;
  /** An instant of today, far from both midnights. */
  now: number;
  /** Stores a star of a wallet that casts its `slot`th today. */
  cast(wallet: number, slot?: number, at?: number): Promise<string>;
  close(): Promise<void>;
}

const test = suite<Context>("folding seasons");

test.before.each(async (context) => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 8, statementTimeoutMs: SEEDED_WITHIN_MS });
  const writer = openPostgres(database.url, { connections: 4, writer: true });
  const [row] = await sql<{ now: number }[]>`select now_ms() as now`;
  const today = Date.parse(dayOf(row?.now ?? 0));
  const now = Math.min(Math.max(row?.now ?? 0, today + 600_000), today + DAY_MS - 600_000);
  const clock = goingFrom(row?.now ?? 0);
  const { commit } = createGroupCommit({ sql: writer, now: clock, xpPerStar: 3 });
  Object.assign(context, {
    sql,
    now,
    async cast(wallet, slot = 1, at = now + slot) {
      const target = {
        type: "token",
        id: `0.0.${9000 + slot}`,
        eventKind: null,
        ledgerId: null,
      } as const;
      const star = { wallet: `0.0.${wallet}`, now: at, slot, target };
      const decided = decidedStar({ ...star, follows: await lastStarOf(sql, wallet) });
      return (await patiently(() => commit(decided))).kind;
    },
    async close() {
      await Promise.all([sql.end({ timeout: 1 }), writer.end({ timeout: 1 })]);
      await database.close();
    },
  } satisfies Context);
});
test.after.each((context) => context.close());

const credit = (id: string, wallet: number, points: number) => ({
  id,
  wallet: `0.0.${wallet}`,
  points,
  reason: "r",
});

/** Wallets whose score is not what the ledger adds up to, both as of one commit. */
const differing = async (sql: Sql) => [
  ...(await sql`
    with folded as (
      select season.id, wallet, sum(points) as points, sum(stars) as stars, sum(weight) as weight
      from xp_ledger join season on at >= starts_at and at < ends_at group by season.id, wallet
    )
    select coalesce(folded.wallet, score.wallet) as wallet, folded.points as folded, score.points
    from folded full join season_score score on folded.id = season_id and folded.wallet = score.wallet
    where (folded.points, folded.stars, folded.weight)
      is distinct from (score.points, score.stars, score.weight)`),
];

/** Makes a part of the fold wait until the key is released. */
async function holdUp(sql: Sql, part: "first" | "later"): Promise<() => Promise<void>> {
  await sql.unsafe(`alter function xp_between rename to xp_between_freely;
    create function xp_between(span season, after xp_place, up_to xp_place)
    returns setof season_score language plpgsql as $$
    begin
      if after.star ${part === "first" ? "=" : ">"} 0 then
        perform pg_advisory_xact_lock_shared(42);
      end if;
      return query select * from xp_between_freely(span, after, up_to);
    end $$`);
  const connection = await reserveConnection(sql);
  await connection`select pg_advisory_lock(42)`;
  return async () => {
    await connection`select pg_advisory_unlock(42)`;
    connection.release();
  };
}

const someoneWaits = async (sql: Sql) => {
  const waiting = await sql`select from pg_locks where locktype = 'advisory' and not granted`;
  return waiting.length > 0;
};

for (const part of ["first", "later"] as const) {
  test(`stars and credits go on while the ${part} part of a fold is added up, and count once`, async ({
    sql,
    now,
    cast,
  }) => {
    await cast(1);
    await creditXp(sql, credit("before", 2, 40));
    // The first part of a long ledger: what follows it is not yet the last part.
    await sql`select setval('journal_seq', 5000)`;
    const release = await holdUp(sql, part);
    let isAdded = false;
    const span = { name: "s", startsAt: now - 600_000, endsAt: now + 600_000 };
    const adding = addSeason(sql, span).then(() => {
      isAdded = true;
    });
    await until("the fold is under way", () => someoneWaits(sql));
    assert.equal(await cast(1, 2), "stored");
    assert.equal(await cast(3), "stored");
    await creditXp(sql, credit("meanwhile", 2, 5));
    assert.equal(isAdded, false, "no voter waited for the season");
    await release();
    await adding;
    assert.equal(await cast(3, 2), "stored");
    assert.deepEqual(await foldedScores(sql), await scores(sql));
    assert.equal((await scores(sql)).find(({ wallet }) => wallet === 3)?.points, 6);
  });
}

test("what is being booked when a fold begins is in it", async ({ sql, now }) => {
  const booking = await reserveConnection(sql);
  await booking`begin`;
  await booking`select credit_xp('on its way', 1, 7, 'r')`;
  const span = { name: "s", startsAt: now - 600_000, endsAt: now + 600_000 };
  const adding = addSeason(sql, span);
  await until("the fold waits for it", () => someoneWaits(sql));
  await booking`commit`;
  booking.release();
  await adding;
  assert.deepEqual(
    (await scores(sql)).map(({ wallet, points }) => [wallet, points]),
    [[1, 7]],
  );
});

test("stars wait while a season is moved by hand, and count once where it then lies", async ({
  sql,
  now,
  cast,
}) => {
  await addSeason(sql, { name: "s", startsAt: now, endsAt: now + 1_000 });
  await cast(1, 1, now);
  await cast(2, 1, now + 500);
  await cast(3, 1, now + 1_500);
  const release = await holdUp(sql, "first");
  const moving =
    sql`update season set starts_at = ${now + 400}, ends_at = ${now + 2_000}`.execute();
  await until("the fold is under way", () => someoneWaits(sql));
  const starring = Promise.all([
    cast(1, 2, now + 1),
    cast(2, 2, now + 501),
    cast(3, 2, now + 1_501),
  ]);
  await release();
  await moving;
  assert.deepEqual(await starring, ["stored", "stored", "stored"]);
  assert.deepEqual(await foldedScores(sql), await scores(sql));
  assert.deepEqual(
    (await scores(sql)).map(({ wallet, stars }) => [wallet, stars]),
    [
      [2, 2],
      [3, 2],
    ],
  );
});

test("a season under another name keeps its scores as they are", async ({ sql, now, cast }) => {
  await addSeason(sql, { name: "s", startsAt: now - 1_000, endsAt: now + 600_000 });
  await cast(1);
  const rows = () => sql`select xmin::text, * from season_score`;
  const before = [...(await rows())];
  await sql`update season set name = 'other'`;
  assert.deepEqual([...(await rows())], before);
});

test("seasons come, move and go while voters of many connections go on: every commit agrees with the ledger", async ({
  sql,
  now,
  cast,
}) => {
  // Between the parts of a fold there is time for stars in each of them.
  await sql.unsafe(`alter function xp_end rename to xp_end_now;
    create function xp_end() returns xp_place language plpgsql as $$
    declare place xp_place;
    begin
      place := xp_end_now();
      perform pg_sleep(0.02);
      return place;
    end $$`);
  let isDone = false;
  let stored = 0;
  const walk = async (walker: number) => {
    for (let n = 0; !isDone; n += 1) {
      const wallet = walker * 10_000 + (n >> 1);
      if ((await cast(wallet, 1 + (n % 2), now + (n % 2))) === "stored") stored += 1;
      await patiently(() => creditXp(sql, credit(`${walker}/${n}`, walker, 1 + (n % 3))));
    }
  };
  const look = async () => {
    while (!isDone) assert.deepEqual(await differing(sql), []);
  };
  const change = async () => {
    // A busy machine stores few stars a round.
    for (let round = 0; round < 6 || stored <= 100; round += 1) {
      await addSeason(sql, { name: `a${round}`, startsAt: now - 600_000, endsAt: now + 1 });
      await addSeason(sql, { name: `b${round}`, startsAt: now + 1, endsAt: now + 600_000 });
      await sql`update season set ends_at = ends_at - 1 where name = ${`a${round}`}`;
      await sql`update season set starts_at = starts_at - 1 where name = ${`b${round}`}`;
      await sql`delete from season`;
    }
    await addSeason(sql, { name: "last", startsAt: now - 600_000, endsAt: now + 600_000 });
  };
  const changing = change().finally(() => {
    isDone = true;
  });
  await Promise.all([changing, look(), ...[1, 2, 3, 4].map(walk)]);
  assert.deepEqual(await differing(sql), []);
  assert.deepEqual(await foldedScores(sql), await scores(sql));
});

test("wherever a season is moved, it has the scores that a season added there would have", async ({
  sql,
  now,
  cast,
}) => {
  for (let wallet = 1; wallet <= 6; wallet += 1) {
    await cast(wallet, 1, now + wallet);
    await cast(wallet, 2, now + 2 * wallet);
  }
  // Credits that cancel out leave a wallet with nothing, and with a row.
  for (const [key, wallet, points, at] of [
    ["a", 7, 5, 3],
    ["b", 7, -5, 4],
    ["c", 8, 2, 6],
    ["d", 1, 9, 8],
  ] as const) {
    await sql`insert into xp_credit (key, wallet, points, reason, at)
      values (${key}, ${wallet}, ${points}, 'r', ${now + at})`;
  }
  await addSeason(sql, { name: "s", startsAt: now, endsAt: now + 1 });
  // Not from 4 on alone: a correction without its credit has nothing to be taken from.
  const starts = fc.constantFrom(0, 1, 2, 3, 5, 6, 7, 9, 14);
  const span = fc.record({ starts, length: fc.integer({ min: 1, max: 14 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(span, { minLength: 1, maxLength: 4 }), async (moves) => {
      for (const { starts, length } of moves) {
        await sql`update season set starts_at = ${now + starts}, ends_at = ${now + starts + length}`;
        assert.deepEqual(await scores(sql), await foldedScores(sql));
      }
    }),
    { numRuns: 60 },
  );
});

test.run();
