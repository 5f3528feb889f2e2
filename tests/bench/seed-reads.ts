import type { Sql } from "../../src/store/postgres.ts";

/** How full a directory is, and how many stars stand in its journal. */
export interface ReadsSize {
  readonly tokens: number;
  readonly events: number;
  readonly stars: number;
}

/** Stars are spread over this many days until now: longer than the longest window. */
const DAYS = 40;
const STARS_PER_WALLET_AND_DAY = 5;
const FIRST_TOKEN = 10_001;

/**
 * A directory whose stars stand in journal and counters alike: two of three on tokens, of which
 * some are liked better than others, as everywhere.
 */
export async function seedForReads(sql: Sql, size: ReadsSize): Promise<void> {
  await sql`
    insert into event (id, title, description, event_type, starts_at, ends_at, created_at, approved_at)
    select 'e' || n, 'Event ' || n, repeat('About it. ', 20), 'ECOSYSTEM_MEETUP',
      now_ms() + n * 1800000::bigint, now_ms() + (n + 48) * 1800000::bigint, 0, 0
    from generate_series(1, ${size.events}::int) n`;
  await sql`
    insert into token (id, symbol, name, icon_url, price, market_cap, created_at, approved_at)
    select '0.0.' || n, 'T' || n, 'Token ' || n, 'https://cdn.example.org/' || n || '.png',
      n / 1000.0, n * 1000, 0, 0
    from generate_series(${FIRST_TOKEN}::int, ${FIRST_TOKEN + size.tokens - 1}::int) n`;
  await sql`
    select ensure_star_partition(utc_day(now_ms()) - back) from generate_series(0, ${DAYS}::int, 28) back`;
  await sql`select ensure_star_partition(utc_day(now_ms()) - ${DAYS}::int)`;
  await insertStars(sql, size);
  await sql`
    insert into event_total select target_id, sum(weight), count(*) from star
    where target_type = 'event' group by target_id`;
  await sql`
    insert into item_day select target_type, target_id, day, sum(weight), count(*) from star
    where target_type <> 'event' group by 1, 2, 3`;
  await sql`
    insert into item_hour select target_type, target_id, (at / 3600000)::int, sum(weight), count(*) from star
    where target_type <> 'event' group by 1, 2, 3`;
}

async function insertStars(sql: Sql, { stars, tokens, events }: ReadsSize): Promise<void> {
  const day = sql`utc_day(now_ms()) - (n % ${DAYS}::int)`;
  const turn = sql`(n / ${DAYS}::int)`;
  await sql`
    insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power, weight,
      base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit)
    select gen_random_uuid(), day, 1000000 + turn / ${STARS_PER_WALLET_AND_DAY}::int,
      1 + turn % ${STARS_PER_WALLET_AND_DAY}::int, at,
      case when n % 3 = 0 then 'event' else 'token' end,
      case when n % 3 = 0 then 'e' || 1 + hash % ${events}::int
        else '0.0.' || ${FIRST_TOKEN}::int + floor(${tokens}::int * pow(hash / 2147483648.0, 2))::int end,
      false, 1, 1, 1, 0, 0, '{}', '{}', at, 5
    from (
      select n, ${turn} as turn, ${day} as day, (n::bigint * 2654435761 % 2147483647)::int as hash,
        (${day} - date '1970-01-01') * 86400000::bigint
          + least(n::bigint * 86413 % 86400000, now_ms() % 86400000) as at
      from generate_series(0, ${stars - 1}::int) n
    ) as given
    on conflict do nothing`;
}
