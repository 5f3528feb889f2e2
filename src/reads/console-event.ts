import { type Day, endOfDay, startOfDay } from "../../actors/day.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

/** An event's actor in numbers; `day` is null for a forever mint. */
export interface EventNumbers {
  readonly stars: number;
  readonly weight: number;
  /** True where there are more stars than were counted: then both numbers are a beginning. */
  readonly isMore: boolean;
  /** How often the daily check ended attributions; forever mints alone. */
  readonly releases: number;
  /** Wallets whose base counts; forever mints alone. */
  readonly wallets: number;
  readonly countedA: number;
  readonly countedB: number;
}

/** An NFT that has counted, for whom, by which star. */
export interface CountedNft {
  readonly collection: "A" | "B";
  readonly serial: number;
  readonly wallet: number;
  readonly starId: string;
}

/** Summing more than these for one page would be felt. */
const STARS_SUMMED_MAX = 20_000;

/** @throws RetryableError `UNAVAILABLE` when Postgres is out of reach */
export async function eventNumbers(
  sql: Sql,
  event: string,
  day: Day | null,
): Promise<EventNumbers> {
  const [claims, totals, [ended]] = await Promise.all([
    runStatement(sql<{ collection: "base" | "A" | "B"; counted: number }[]>`
      select collection, count(*) as counted from serial_claim
      where event_id = ${event} and ${scope(sql, day)} group by collection`),
    day === null
      ? runStatement(sql<{ stars: number; weight: number }[]>`
          select stars, weight from event_total where event_id = ${event}`)
      : runStatement(sql<{ stars: number; weight: number }[]>`
          select count(*) as stars, coalesce(sum(weight), 0)::bigint as weight from (
            select weight from star where day = ${day} and target_type = 'event' and target_id = ${event}
              and at >= ${startOfDay(day)} and at < ${endOfDay(day)}
            limit ${STARS_SUMMED_MAX}) as first`),
    day === null
      ? runStatement(sql<{ releases: number }[]>`
          select count(distinct seq) as releases from (
            select seq from claim_release where event_id = ${event} limit ${STARS_SUMMED_MAX}) as first`)
      : [],
  ]);
  const of = (collection: string): number =>
    claims.find((row) => row.collection === collection)?.counted ?? 0;
  const { stars = 0, weight = 0 } = totals[0] ?? {};
  return {
    stars,
    weight,
    releases: ended?.releases ?? 0,
    isMore: day !== null && stars === STARS_SUMMED_MAX,
    wallets: of("base"),
    countedA: of("A"),
    countedB: of("B"),
  };
}

/** The NFTs that count, by collection and serial, after the one given. */
export async function listCounted(
  sql: Sql,
  event: string,
  query: {
    readonly day: Day | null;
    readonly after?: Pick<CountedNft, "collection" | "serial"> | undefined;
    readonly limit: number;
  },
): Promise<readonly CountedNft[]> {
  const { collection, serial } = query.after ?? { collection: "A", serial: 0 };
  return runStatement(sql<CountedNft[]>`
    select collection, serial, wallet, star_id as "starId" from serial_claim
    where event_id = ${event} and ${scope(sql, query.day)} and collection <> 'base'
      and (collection, serial) > (${collection}, ${serial}::bigint)
    order by collection, serial limit ${query.limit}`);
}

/** The claims of a day, or the live ones of a forever mint: each has an index of its own. */
function scope(sql: Sql, day: Day | null) {
  return day === null ? sql`day is null and released_at is null` : sql`day = ${day}`;
}

/** A star of an event, or an attribution that the daily check ended. */
export interface EventHappening {
  readonly kind: "star" | "release";
  /** Star id, or the run's. */
  readonly id: string;
  readonly at: number;
  readonly wallet: number;
  readonly votingPower: number;
  readonly weight: number;
  readonly base: number;
  readonly countedA: number;
  readonly bonusB: number;
  readonly heldA: number;
  readonly heldB: number;
  readonly collection: "A" | "B" | null;
  readonly serial: number | null;
  readonly spare: number | null;
  readonly owner: string | null;
  readonly deleted: boolean | null;
  readonly order: number;
}

/** Where a page of happenings goes on: what ended together shares one `order`, and differs by NFT. */
export type AfterHappening = Pick<EventHappening, "order" | "collection" | "serial">;

/** An event's stars of a day in the order of its fold, newest first; `after` is the last one shown. */
export async function starsOfEvent(
  sql: Sql,
  event: string,
  query: { readonly day: Day; readonly after?: AfterHappening | undefined; readonly limit: number },
): Promise<readonly EventHappening[]> {
  const before = query.after?.order ?? Number.MAX_SAFE_INTEGER;
  return runStatement(sql<EventHappening[]>`
    select ${starColumns(sql)}, seq as order from star
    where day = ${query.day} and target_type = 'event' and target_id = ${event}
      and at >= ${startOfDay(query.day)} and at < ${endOfDay(query.day)} and seq < ${before}::bigint
    order by seq desc limit ${query.limit}`);
}

/** A forever mint's stars and releases in the order of their commits, newest first. */
export async function happeningsOfMint(
  sql: Sql,
  mint: string,
  query: { readonly after?: AfterHappening | undefined; readonly limit: number },
): Promise<readonly EventHappening[]> {
  const { after, limit } = query;
  const before = after?.order ?? Number.MAX_SAFE_INTEGER;
  return runStatement(sql<EventHappening[]>`
    (select ${starColumns(sql)}, page.seq as order
      from (select seq, day, star_id from mint_star
        where event_id = ${mint} and seq < ${before}::bigint order by seq desc limit ${limit}) page
      cross join lateral (select * from star where star.day = page.day and star.id = page.star_id limit 1) star)
    union all
    (select 'release', run_id, released_at, wallet, 0, -weight, 0, 0, 0, 0, 0,
        collection, serial, spare, owner, deleted, seq
      from claim_release where event_id = ${mint}
        and (seq, collection, serial) < (${before}::bigint, ${after?.collection ?? ""}, ${after?.serial ?? 0}::bigint)
      order by seq desc, collection desc, serial desc limit ${limit})
    order by "order" desc, collection desc, serial desc limit ${limit}`);
}

function starColumns(sql: Sql) {
  return sql`'star' as kind, id, at, wallet, voting_power as "votingPower", weight, base,
    counted_a as "countedA", bonus_b as "bonusB", cardinality(held_a) as "heldA",
    cardinality(held_b) as "heldB", null::text as collection, null::bigint as serial,
    null::bigint as spare, null::text as owner, null::boolean as deleted`;
}
