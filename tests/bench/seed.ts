import type { Sql } from "../../src/store/postgres.ts";
import { ASSETS, EVENTS, FIRST_COLLECTION, FIRST_TOKEN, FIRST_WALLET } from "./workloads.ts";

/**
 * A directory to star, and wallets that are signed in: their session token is their number in
 * 43 digits, so none need be kept.
 */
export async function seedForStars(sql: Sql, wallets: number): Promise<void> {
  await sql`
    insert into event (id, title, event_type, is_forever_mint, starts_at, ends_at, created_at, approved_at)
    select 'e' || n, 'Event ' || n, 'ECOSYSTEM_MEETUP', false, 0, 4102444800000, 0, 0
    from generate_series(1, ${EVENTS}::int) n
    union all select 'm' || n, 'Mint ' || n, 'MINT_EVENT', true, 0, null, 0, 0
    from generate_series(1, ${MINTS}::int) n`;
  await sql`
    insert into token (id, symbol, name, created_at, approved_at)
    select '0.0.' || n, 'T' || n, 'Token ' || n, 0, 0
    from generate_series(${FIRST_TOKEN}::int, ${FIRST_TOKEN + ASSETS - 1}::int) n`;
  await sql`
    insert into collection (id, name, created_at, approved_at)
    select '0.0.' || n, 'Collection ' || n, 0, 0
    from generate_series(${FIRST_COLLECTION}::int, ${FIRST_COLLECTION + ASSETS - 1}::int) n`;
  await sql`
    insert into project (id, slug, name, category, created_at, approved_at)
    select 'p' || n, 'p' || n, 'Project ' || n, 'DEFI', 0, 0 from generate_series(1, ${ASSETS}::int) n`;
  // In the order of no key, as sign-ins come: sessions of neighbours lie far apart in the index.
  await sql`
    insert into session (token_hash, wallet, created_at, expires_at, key_fingerprint)
    select sha256(lpad(n::text, 43, '0')::bytea), n, now_ms(), now_ms() + 86400000, sha256('key')
    from generate_series(${FIRST_WALLET}::int, ${FIRST_WALLET + wallets - 1}::int) n`;
}

/** Forever mints `m1`, `m2`, …: an empty one for every run on a hot mint. */
export const MINTS = 200;

/** A mint on which that many wallets have starred, and as many serials count. */
export async function fillMint(
  sql: Sql,
  mint: string,
  { wallets, firstWallet, firstSerial }: Record<"wallets" | "firstWallet" | "firstSerial", number>,
): Promise<void> {
  // As they would stand there after years: the stars of a day long past, so slots are free.
  await sql`select ensure_star_partition('2026-01-10')`;
  const at = Date.parse("2026-01-10T12:00:00Z");
  await sql.begin(async (tx) => {
    await tx`
      with given as materialized (
        select n, (lpad(to_hex(${at}::bigint), 12, '0') || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid as id
        from generate_series(0, ${wallets - 1}::int) n
      ), stars as (
        insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power,
          weight, base, counted_a, bonus_b, held_a, held_b, claimed_a, holdings_read_at, allowance_limit)
        select id, '2026-01-10', ${firstWallet}::bigint + n, 1, ${at}::bigint, 'event', ${mint}, true, 2, 2, 1, 1, 0,
          array[${firstSerial}::bigint + n], '{}', array[${firstSerial}::bigint + n], ${at}::bigint, 5
        from given
      ), numbered as (
        insert into mint_star (event_id, day, wallet, star_id)
        select ${mint}, '2026-01-10', ${firstWallet}::bigint + n, id from given order by n
      ), messages as (
        insert into outbox (star_id, topic, message) select id, 'event', '{"timestamp":1}' from given
      )
      insert into serial_claim (event_id, day, collection, serial, wallet, star_id)
      select ${mint}, null::date, 'base', ${firstWallet}::bigint + n, ${firstWallet}::bigint + n, id from given
      union all
      select ${mint}, null, 'A', ${firstSerial}::bigint + n, ${firstWallet}::bigint + n, id from given`;
    await tx`insert into event_total (event_id, weight, stars) values (${mint}, ${2 * wallets}::bigint, ${wallets}::bigint)`;
  });
  await sql`analyze star, serial_claim, event_total, outbox`;
}
