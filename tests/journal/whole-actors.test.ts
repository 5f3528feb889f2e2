/**
 * Goal: an actor of very many stars or claims is read whole and in order, and its reading costs
 * its size. Method: rows put in by hand, several pages of them; instants run against the order of
 * the journal; Postgres counts the rows it fetched.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { emptyTables } from "../../actors/whole.ts";
import { compareEventDay, foldEventDay, starsOfEventDay } from "../../src/journal/event-history.ts";
import { readLiveMint } from "../../src/journal/live-mint.ts";
import { instantOfStarId } from "../../src/journal/star-id.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";

const DAY = "2026-11-20";
const STARS = 10_007;
/** Of each kind of claim: base, A and B. */
const CLAIMS = 12_001;
const FIRST_WALLET = 1_000;

const test = suite<{ database: TestDatabase; sql: Sql }>("actors read whole");

test.before(async (context) => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, {
    connections: 1,
    byKey: true,
    statementTimeoutMs: 60_000,
  });
  await sql`select ensure_star_partition(${DAY})`;
  await insertStars(sql, STARS);
  await sql`
    insert into serial_claim (event_id, day, collection, serial, wallet, star_id)
    select 'mint', null::date, collection, n, n, gen_random_uuid()
    from generate_series(1, ${CLAIMS}::int) n, unnest(array['base', 'A', 'B']) collection
    union all select 'other', null, 'A', n, n, gen_random_uuid() from generate_series(1, 9) n
    union all select 'mint', ${DAY}, 'A', n + 1000000, n, gen_random_uuid() from generate_series(1, 9) n`;
  await sql`insert into event_total (event_id, weight, stars) values ('mint', ${7 * CLAIMS}, ${CLAIMS})`;
  await sql`insert into mint_star (event_id, seq, day, wallet, star_id) values ('mint', 41, ${DAY}, 7, gen_random_uuid())`;
  await sql`analyze`;
  Object.assign(context, { database, sql });
});
test.after(async ({ database, sql }) => {
  await sql.end({ timeout: 1 });
  await database.close();
});

/**
 * Half of the stars on `busy`, the others on the ten days before; wallet n's star is the n-th, and
 * later ones have the earlier instants.
 */
async function insertStars(sql: Sql, count: number): Promise<void> {
  await sql`
    insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power,
      weight, base, counted_a, bonus_b, held_a, held_b, claimed_a, holdings_read_at, allowance_limit)
    select gen_random_uuid(), utc_day(at), wallet, 1, at, 'event', target, false, 2, 2,
      1, 1, 0, array[n], '{}', array[n], at, 5
    from (
      select n, ${FIRST_WALLET}::int + n / 2 as wallet,
        case n % 2 when 0 then 'busy' else 'quiet' end as target,
        noon.at - n - case n % 2 when 0 then 0 else (1 + n / 2 % 10) * 86400000::bigint end as at
      from generate_series(0, ${2 * count - 1}::int) n,
        (select (extract(epoch from ${DAY}::date) * 1000 + 43200000)::bigint as at) noon
    ) as given order by n`;
}

test("a busy day comes star by star in the journal's order, each once", async ({ sql }) => {
  const wallets: string[] = [];
  const instants: number[] = [];
  for await (const page of starsOfEventDay(sql, { event: "busy", day: DAY })) {
    wallets.push(...page.map(({ wallet }) => wallet));
    instants.push(...page.map(({ at }) => at));
  }
  assert.deepEqual(
    wallets,
    Array.from({ length: STARS }, (_, n) => `0.0.${FIRST_WALLET + n}`),
  );
  assert.ok((instants[0] ?? 0) > (instants.at(-1) ?? 0), "instants run the other way");
  const busy = { event: "busy", day: DAY };
  const { tables, rules, contradiction } = await compareEventDay(sql, busy);
  assert.deepEqual(
    [contradiction, tables.stars, tables.weight, [...rules]],
    [null, STARS, 2 * STARS, [1]],
  );
  assert.deepEqual(await foldEventDay(sql, busy), tables);
  for await (const page of starsOfEventDay(sql, { event: "unstarred", day: DAY })) {
    assert.deepEqual(page, []);
  }
});

test("folding a busy day fetches each of its stars twice, not once for every page", async ({
  sql,
}) => {
  const before = await starsFetched(sql);
  await foldEventDay(sql, { event: "busy", day: DAY });
  const fetched = (await starsFetched(sql)) - before;
  assert.ok(fetched >= STARS && fetched <= 2.5 * STARS, `${fetched} fetched of ${STARS}`);
});

async function starsFetched(sql: Sql): Promise<number> {
  await sql`select pg_stat_force_next_flush()`;
  const [row] = await sql<{ rows: number }[]>`
    select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint as rows
    from pg_stat_user_tables where relname like 'star\\_2%'`;
  return row?.rows ?? 0;
}

test("a large mint comes whole, with the star of each claim", async ({ sql }) => {
  const { upTo, live } = await readLiveMint(sql, "mint");
  assert.deepEqual([upTo, live.weight, live.stars], [41, 7 * CLAIMS, CLAIMS]);
  assert.deepEqual([live.A.size, live.B.size, live.wallets.size], [CLAIMS, CLAIMS, CLAIMS]);
  const rows = await sql<
    { collection: "A" | "B"; serial: number; wallet: number; starId: string }[]
  >`
    select collection, serial, wallet, star_id as "starId" from serial_claim
    where event_id = 'mint' and day is null and collection <> 'base'`;
  for (const { collection, serial, wallet, starId } of rows) {
    const at = instantOfStarId(starId);
    assert.deepEqual(live[collection].get(serial), { wallet: `0.0.${wallet}`, starId, at });
  }
  assert.deepEqual(live.wallets.get("0.0.7"), { value: "carrying", context: { votedOn: DAY } });
});

test("a mint is read as of one moment, whatever is claimed meanwhile", async ({
  database,
  sql,
}) => {
  const voters = openPostgres(database.url, { connections: 1 });
  let isRead = false;
  const voting = (async () => {
    for (let serial = CLAIMS + 1; !isRead; serial += 1) {
      await voters`
        with claim as (
          insert into serial_claim (event_id, collection, serial, wallet, star_id)
          values ('mint', 'B', ${serial}, ${serial}, gen_random_uuid()))
        update event_total set weight = weight + 5 where event_id = 'mint'`;
    }
  })();
  const reading = readLiveMint(sql, "mint").finally(() => {
    isRead = true;
  });
  const [{ live }] = await Promise.all([reading, voting]);
  await voters.end({ timeout: 1 });
  assert.equal(live.wallets.size + live.A.size + 5 * live.B.size, live.weight);
});

test("a mint that nothing happened to is empty", async ({ sql }) => {
  const { upTo, live } = await readLiveMint(sql, "unstarred");
  assert.deepEqual([upTo, live], [0, emptyTables()]);
});

test.run();
