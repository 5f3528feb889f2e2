/**
 * Goal: the days and the stars of one wallet cost that wallet's stars, also where Postgres takes them
 * for many, as it does without statistics. Method: many stars of others, statistics that mislead, and
 * Postgres' own count of the rows that were fetched.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { DAY_MS } from "../../actors/day.ts";
import { listActors } from "../../src/hosting/list-actors.ts";
import { listStars } from "../../src/reads/list-stars.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { testDatabase } from "../support/postgres.ts";
import { readsOf } from "../support/table-reads.ts";

const OTHERS = 20_000;
const RARE = 5;

test("the days and the stars of a wallet are found without a walk over the stars of others", async () => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 1, byKey: true });
  try {
    const [{ month }] = await sql<[{ month: string }]>`
      select to_char(utc_day(now_ms()), '"star_"YYYY_MM') as month`;
    // Not by the pool that is tested: its statements have 1.8 s.
    await database.sql`
      insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power,
        weight, base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit)
      select (lpad(to_hex(now_ms()), 12, '0') || left(md5(n::text), 20))::uuid, utc_day(now_ms()),
        case when n = 0 then ${RARE}::bigint else 1000 + n end, 1, now_ms(), 'token', '0.0.1', false, 1, 1, 1, 0, 0, '{}', '{}', now_ms(), 5
      from generate_series(0, ${OTHERS}::integer) n`;
    await sql`alter table ${sql(month)} alter column wallet set (n_distinct = 2)`;
    await sql`analyze ${sql(month)}`;
    // A transaction asks as a pool does.
    await sql.begin(async (held) => {
      const pool = held as unknown as Sql;
      const daysOf = (wallet: number) =>
        listActors(pool, { type: "wallet-day", q: `0.0.${wallet}`, limit: 2 });
      const { rows } = await readsOf(pool, month, async () => {
        const [day] = await daysOf(RARE);
        assert.equal(day?.version, 1);
        assert.equal((await daysOf(RARE + 1)).length, 0);
        const now = Date.now();
        for (const query of [{}, { between: [now - DAY_MS, now] }] as const) {
          const starsOf = (wallet: number) => listStars(pool, { ...query, wallet, limit: 100 });
          assert.equal((await starsOf(RARE)).length, 1);
          assert.equal((await starsOf(RARE + 1)).length, 0);
        }
      });
      assert.ok(rows < 100, `${rows} rows`);
    });
  } finally {
    await sql.end();
    await database.close();
  }
});

test.run();
