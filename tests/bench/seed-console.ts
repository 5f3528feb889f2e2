import type { Sql } from "../../src/store/postgres.ts";

/** How much stands in the journal. */
export interface ConsoleSize {
  readonly stars: number;
  /** Of them on one event, today. */
  readonly hotEvent: number;
  /** Of them on each of `BUSY_EVENTS` others, on one day before the month. */
  readonly busyEvent: number;
  /** Of them on one forever mint, each with an NFT of its own. */
  readonly hotMint: number;
  /** Stars that are not on the ledger yet. */
  readonly waiting: number;
}

const DAYS = 30;
const STARS_PER_WALLET_AND_DAY = 5;
/** Of the stars every tenth is on an event. */
const EVENTS = 2_000;
/** A page of events that are all busy on one day. */
const BUSY_EVENTS = 50;
/** A wallet with a pass that used all its votes, and one that holds very many NFTs. */
const EAGER = { wallet: 9_000_000, stars: 20 };
const WHALE = { wallet: 9_000_001, nfts: 500 };

/** Star ids begin with their instant, as real ones do. */
const ID = `(lpad(to_hex(at), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid`;

/**
 * A journal of a month: most stars on tokens, one busy event today, a page of busy ones on a day
 * before it, one full forever mint, a wallet with a long day, a star with hundreds of NFTs; the newest
 * stars wait to be published.
 */
export async function seedForConsole(sql: Sql, size: ConsoleSize): Promise<void> {
  await sql`
    insert into event (id, title, event_type, is_forever_mint, starts_at, ends_at, created_at, approved_at)
    select 'e' || n, 'Event ' || n, 'ECOSYSTEM_MEETUP', false, 0, 4102444800000, 0, 0
    from generate_series(0, ${EVENTS - 1}::int) n
    union all select 'crowd' || n, 'Crowd ' || n, 'ECOSYSTEM_MEETUP', false, 0, 4102444800000, 0, 0
    from generate_series(0, ${BUSY_EVENTS - 1}::int) n
    union all select 'hot', 'The busy one', 'ECOSYSTEM_MEETUP', false, 0, 4102444800000, 0, 0
    union all select 'full', 'The full one', 'MINT_EVENT', true, 0, null, 0, 0`;
  await sql`select ensure_star_partition((utc_day(now_ms()) - back)) from generate_series(0, 62, 20) back`;
  const { stars, hotEvent, busyEvent, hotMint } = size;
  const busy = BUSY_EVENTS * busyEvent;
  const spread = stars - hotEvent - hotMint - busy;
  await insertStars(sql, { from: 0, to: spread, kind: "spread" });
  await insertStars(sql, { from: spread, to: spread + hotEvent, kind: "hot" });
  await insertStars(sql, { from: spread + hotEvent, to: stars - busy, kind: "full" });
  await insertStars(sql, { from: stars - busy, to: stars, kind: "busy" });
  await insertOddStars(sql);
  await sql`
    insert into serial_claim (event_id, day, collection, serial, wallet, star_id)
    select 'full', null::date, 'A', wallet, wallet, id from star where target_id = 'full' and counted_a = 1
    union all
    select 'full', null, 'base', wallet, wallet, id from star where target_id = 'full'
    union all
    select 'hot', day, 'A', wallet, wallet, id from star where target_id = 'hot'`;
  await sql`
    insert into event_total
    select target_id, sum(weight), count(*),
      (select count(distinct seq) from claim_release where event_id = target_id)
    from star where target_type = 'event' group by target_id`;
  await insertMessages(sql, size.waiting);
}

async function insertStars(
  sql: Sql,
  { from, to, kind }: { from: number; to: number; kind: "spread" | "hot" | "full" | "busy" },
): Promise<void> {
  const turn = `(n / ${DAYS})`;
  const daysAgo = { spread: `n % ${DAYS}`, hot: "0", full: "0", busy: `${DAYS + 1}` }[kind];
  const day = `utc_day(now_ms()) - (${daysAgo})`;
  const wallet =
    kind === "spread"
      ? `1000000 + ${turn} / ${STARS_PER_WALLET_AND_DAY}`
      : `${{ hot: 3, full: 5, busy: 7 }[kind]}000000 + n`;
  const slot = kind === "spread" ? `1 + ${turn} % ${STARS_PER_WALLET_AND_DAY}` : "1";
  const target = {
    spread: `case when n % 10 = 0 then 'e' || (n / 10) % ${EVENTS} else '0.0.' || 20001 + n % 9973 end`,
    hot: "'hot'",
    full: "'full'",
    busy: `'crowd' || n % ${BUSY_EVENTS}`,
  }[kind];
  const type = kind === "spread" ? "case when n % 10 = 0 then 'event' else 'token' end" : "'event'";
  const counted = kind === "hot" || kind === "full" ? 1 : 0;
  const nfts = counted === 0 ? "'{}'" : "array[wallet]::bigint[]";
  await sql.unsafe(`
    insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power, weight,
      base, counted_a, bonus_b, held_a, claimed_a, held_b, holdings_read_at, allowance_limit)
    select ${ID}, day, wallet, slot, at, type, target, ${kind === "full"}, ${1 + counted}, ${1 + counted},
      1, ${counted}, 0, ${nfts}, ${nfts}, '{}', at, 5
    from (
      select n, ${day} as day, ${wallet} as wallet, ${slot} as slot, ${type} as type, ${target} as target,
        ((${day}) - date '1970-01-01') * 86400000::bigint
          + least(n::bigint * 86413 % 86400000, now_ms() % 86400000) as at
      from generate_series(${from}, ${to - 1}) n
    ) as given on conflict do nothing`);
}

/** What a list of like stars would not show: a long day, and a star with hundreds of NFTs. */
async function insertOddStars(sql: Sql): Promise<void> {
  await sql.unsafe(`
    insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power, weight,
      base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit)
    select ${ID}, utc_day(at), ${EAGER.wallet}, n, at, 'token', '0.0.' || 20000 + n, false, 1, 1,
      1, 0, 0, '{}'::bigint[], '{}'::bigint[], at, 20
    from (select n, utc_day_start + n as at from generate_series(1, ${EAGER.stars}) n,
      (select now_ms() / 86400000 * 86400000 as utc_day_start) today) as given
    union all
    select ${ID}, utc_day(at), ${WHALE.wallet}, 1, at, 'event', 'full', true, ${1 + WHALE.nfts}, 1,
      1, 0, 0, array(select serial from generate_series(5900001, ${5_900_000 + WHALE.nfts}) serial), '{}', at, 5
    from (select 0 as n, now_ms() as at) as given`);
  await sql`
    insert into mint_star (event_id, day, wallet, star_id)
    select target_id, day, wallet, id from star where is_forever_mint order by at, id`;
}

/** A message for each star; the newest ones wait, some of them with a transaction id on its way. */
async function insertMessages(sql: Sql, waiting: number): Promise<void> {
  await sql`
    insert into outbox (star_id, topic, message, state, topic_id, transaction_id, sequence_number,
      consensus_timestamp, running_hash, tries, last_error)
    select id, 'asset', json_build_object('timestamp', at)::text,
      case when place > ${waiting} then 'published' when place % 2 = 0 then 'sent' else 'pending' end,
      '0.0.5', '0.0.2@1.000000001', place, '1.000000001', 'x', 3, 'BUSY'
    from (select id, at, row_number() over (order by id desc) as place from star) as placed`;
  await sql`insert into topic_reading (topic_id, sequence_number) values ('0.0.5', 1)`;
  await sql`
    insert into publish_attempt (star_id, attempt, topic_id, payer, valid_start_ns, reserved_at, sends,
      sent_at, receipt_status, closed_at, outcome)
    select star_id, attempt, '0.0.5', '0.0.2', 3 * row_number() over () + attempt, 0, 1, 0, 'BUSY',
      case when attempt < 3 then 0 end, case when attempt < 3 then 'refused' end
    from outbox, generate_series(1, 3) attempt where state = 'sent'`;
}
