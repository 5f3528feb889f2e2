import type { Day } from "../../actors/day.ts";
import type { Sql } from "../../src/store/postgres.ts";

/**
 * Fills a day with published stars of as many wallets, straight into the tables: half of them on
 * tokens, half on events with two NFTs each that count.
 *
 * @param owner the tables' owner: the triggers that follow votes are switched off meanwhile
 */
export async function seedDay(owner: Sql, day: Day, stars: number): Promise<void> {
  await owner.begin(async (sql) => {
    await sql`set local session_replication_role = replica`;
    await sql`set local statement_timeout = '60s'`;
    await sql`select ensure_star_partition(${day})`;
    await sql`
      create temporary table seed on commit drop as
      select n, at, n % 2 = 0 as is_event,
        (lpad(to_hex(at >> 16), 8, '0') || lpad(to_hex(at & 65535), 4, '0') || '70008000'
          || lpad(to_hex(n), 12, '0'))::uuid as id
      from (select n, (extract(epoch from ${day}::date) * 1000)::bigint + n::bigint * 86000000 / ${stars} as at
        from generate_series(1, ${stars}::int) n) numbered`;
    await sql`
      insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power,
        weight, base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit)
      select id, ${day}, n, 1, at, case when is_event then 'event' else 'token' end,
        case when is_event then 'meetup' else '0.0.' || 9001 + n % 40 end, false, 3, 3, 1, 2, 0,
        array[2 * n, 2 * n + 1], '{}', at, 5
      from seed order by n`;
    await sql`
      insert into serial_claim (event_id, day, collection, serial, wallet, star_id)
      select 'meetup', ${day}, 'A', serial, n, id from seed, unnest(array[2 * n, 2 * n + 1]) as serial
      where is_event`;
    await sql`
      insert into outbox (star_id, topic, message, state, topic_id, transaction_id, sequence_number,
        consensus_timestamp, running_hash)
      select id, case when is_event then 'event' else 'asset' end,
        json_build_object('type', 'event_vote', 'event_type', 'OTHER', 'wallet', '0.0.' || n, 'timestamp', at,
          'filler', repeat('x', 100))::text,
        'published', case when is_event then '0.0.501' else '0.0.502' end,
        '0.0.2@1.' || lpad(n::text, 9, '0'), n, '1.' || lpad(n::text, 9, '0'), repeat('h', 64)
      from seed order by n`;
  });
}
