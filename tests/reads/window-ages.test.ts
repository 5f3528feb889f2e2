/**
 * Goal: "from the full UTC hour 7 × 24 (30 × 24) hours ago until now". Method: stars of known
 * ages stand in journal and counters; they are read at the edges.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { DAY_MS, dayOf } from "../../actors/day.ts";
import { listProjects } from "../../src/reads/ecosystem.ts";
import { type StarCounts, topRanked } from "../../src/reads/markets.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 10, 20, 8, 30);

let database: TestDatabase;
let sql: Sql;
test.before(async () => {
  database = await testDatabase({ migrated: true });
  sql = openPostgres(database.url, { connections: 2 });
  await sql`insert into token (id, symbol, name, created_at, approved_at) values ('0.0.1', 'T', 'T', 0, 1)`;
  await sql`insert into collection (id, name, created_at, approved_at) values ('0.0.2', 'C', 0, 1)`;
  await sql`insert into project (id, slug, name, category, created_at, approved_at) values ('p', 'p', 'P', 'DATA', 0, 1)`;
});
test.after(async () => {
  await sql.end();
  await database.close();
});

const page = { limit: 1, offset: 0 };
const TYPES = {
  token: {
    id: "0.0.1",
    read: async (now: number) => (await topRanked(sql, "token", { limit: 1, now }))[0],
  },
  collection: {
    id: "0.0.2",
    read: async (now: number) => (await topRanked(sql, "collection", { limit: 1, now }))[0],
  },
  project: {
    id: "p",
    read: async (now: number) => (await listProjects(sql, { ...page, now })).projects[0],
  },
} as const;
type Type = keyof typeof TYPES;

let wallet = 1_000;

/** One star of weight 1, in the journal, and in the counters as summed from it. */
async function onlyStar(type: Type, at: number): Promise<void> {
  wallet += 1;
  const day = dayOf(at);
  await sql`select ensure_star_partition(${day})`;
  await sql`
    insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power, weight,
      base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit)
    values (gen_random_uuid(), ${day}, ${wallet}, 1, ${at}, ${type}, ${TYPES[type].id}, false, 1, 1, 1, 0, 0,
      '{}', '{}', ${at}, 5)`;
  await sql`delete from item_day`;
  await sql`delete from item_hour`;
  await sql`insert into item_day select target_type, target_id, day, sum(weight), count(*) from star
    where wallet = ${wallet} group by 1, 2, 3`;
  await sql`insert into item_hour select target_type, target_id, (at / ${HOUR_MS})::int, sum(weight), count(*)
    from star where wallet = ${wallet} group by 1, 2, 3`;
}

const hour = Math.floor(NOW / HOUR_MS) * HOUR_MS;
/** Age in words, the star's instant, and where it counts at NOW, 08:30. */
const ages: readonly (readonly [string, number, StarCounts])[] = [
  ["of this minute", NOW, { totalVotes: 1, votes7d: 1, votes30d: 1 }],
  ["of 00:00 today", Math.floor(NOW / DAY_MS) * DAY_MS, { totalVotes: 1, votes7d: 1, votes30d: 1 }],
  [
    "of the last instant of yesterday",
    Math.floor(NOW / DAY_MS) * DAY_MS - 1,
    { totalVotes: 0, votes7d: 1, votes30d: 1 },
  ],
  ["6 d 23 h old", NOW - 7 * DAY_MS + HOUR_MS, { totalVotes: 0, votes7d: 1, votes30d: 1 }],
  ["of the full hour 7 days ago", hour - 7 * DAY_MS, { totalVotes: 0, votes7d: 1, votes30d: 1 }],
  [
    "of the instant before that hour",
    hour - 7 * DAY_MS - 1,
    { totalVotes: 0, votes7d: 0, votes30d: 1 },
  ],
  ["7 d 2 h old", NOW - 7 * DAY_MS - 2 * HOUR_MS, { totalVotes: 0, votes7d: 0, votes30d: 1 }],
  ["29 d 23 h old", NOW - 30 * DAY_MS + HOUR_MS, { totalVotes: 0, votes7d: 0, votes30d: 1 }],
  ["of the full hour 30 days ago", hour - 30 * DAY_MS, { totalVotes: 0, votes7d: 0, votes30d: 1 }],
  [
    "of the instant before that one",
    hour - 30 * DAY_MS - 1,
    { totalVotes: 0, votes7d: 0, votes30d: 0 },
  ],
  ["30 d 2 h old", NOW - 30 * DAY_MS - 2 * HOUR_MS, { totalVotes: 0, votes7d: 0, votes30d: 0 }],
];

for (const type of Object.keys(TYPES) as Type[]) {
  for (const [name, at, wanted] of ages) {
    test(`${type}: a star ${name}`, async () => {
      await onlyStar(type, at);
      const { totalVotes, votes7d, votes30d } = (await TYPES[type].read(NOW)) ?? {};
      assert.deepEqual({ totalVotes, votes7d, votes30d }, wanted);
    });
  }

  test(`${type}: a star leaves the 7 days as the hour turns, and today's count at midnight`, async () => {
    await onlyStar(type, hour - 7 * DAY_MS);
    const weekAt = async (now: number) => (await TYPES[type].read(now))?.votes7d;
    assert.deepEqual(
      [await weekAt(hour), await weekAt(hour + HOUR_MS - 1), await weekAt(hour + HOUR_MS)],
      [1, 1, 0],
    );
    const midnight = Math.floor(NOW / DAY_MS) * DAY_MS;
    await onlyStar(type, midnight - 1);
    const todayAt = async (now: number) => (await TYPES[type].read(now))?.totalVotes;
    assert.deepEqual([await todayAt(midnight - 1), await todayAt(midnight)], [1, 0]);
  });
}

test.run();
