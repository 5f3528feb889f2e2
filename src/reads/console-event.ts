import { type Day, endOfDay, startOfDay } from "../../actors/day.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import type { ListedCheck } from "./console-holdings.ts";
import { type StarNumbers, starNumbers } from "./list-stars.ts";

/** An event's actor in numbers; `day` is null for a forever mint. */
export interface EventNumbers {
  readonly stars: number;
  readonly weight: number;
  /** True where not all stars were counted, or just all: then there are at least so many, and so much weight. */
  readonly isPartial: boolean;
  /** How often the daily check ended attributions; forever mints alone. */
  readonly releases: number;
  /** Wallets whose base counts; forever mints alone. Of claims so many are counted at most: `CLAIMS_COUNTED_MAX`. */
  readonly wallets: number;
  readonly countedA: number;
  readonly countedB: number;
}

export interface Nft {
  readonly collection: "A" | "B";
  readonly serial: number;
}

export interface CountedNft extends Nft {
  readonly wallet: number;
  readonly starId: string;
}

/** What an event is called, and what it has over all days. */
export interface EventTotal {
  readonly title: string;
  readonly isForeverMint: boolean;
  readonly stars: number;
  readonly weight: number;
}

/** Events by their ids; those that the catalogue does not have are left out. */
export async function findEvents(
  sql: Sql,
  ids: readonly string[],
): Promise<ReadonlyMap<string, EventTotal>> {
  const rows = await runStatement(sql<(EventTotal & { readonly id: string })[]>`
    select id, title, is_forever_mint as "isForeverMint", coalesce(stars, 0) as stars,
      coalesce(weight, 0) as weight
    from event left join event_total on event_id = id where id = any(${[...ids]}::text[])`);
  return new Map(rows.map(({ id, ...event }) => [id, event]));
}

/** Summing more than these for one page would be felt. */
const STARS_SUMMED_MAX = 20_000;
/** Of each kind: a mint keeps those of years. */
export const CLAIMS_COUNTED_MAX = 20_000;

/** Counts an event's actor, without folding it. */
export async function eventNumbers(
  sql: Sql,
  event: string,
  day: Day | null,
): Promise<EventNumbers> {
  const total =
    day === null
      ? sql`select stars, weight, ${releasesOf(sql, event)} as releases from event_total where event_id = ${event}`
      : sql`select count(*) as stars, coalesce(sum(weight), 0)::bigint as weight, 0 as releases from (
          select weight from star where day = ${day} and target_type = 'event' and target_id = ${event}
            and at >= ${startOfDay(day)} and at < ${endOfDay(day)}
          limit ${STARS_SUMMED_MAX}) as first`;
  const claims = (collection: string) => sql`(select count(*) from (select from serial_claim
    where event_id = ${event} and ${scope(sql, day)} and collection = ${collection}
    order by serial limit ${CLAIMS_COUNTED_MAX}) as first)`;
  const [row] = await runStatement(
    sql<[Omit<EventNumbers, "isPartial">]>`
      select coalesce(stars, 0) as stars, coalesce(weight, 0) as weight, coalesce(releases, 0) as releases,
        ${claims("base")} as wallets, ${claims("A")} as "countedA", ${claims("B")} as "countedB"
      from (select) as one left join (${total}) as total on true`,
  );
  return { ...row, isPartial: day !== null && row.stars === STARS_SUMMED_MAX };
}

/** The total's own number is a version: it also knows of releases that a recovery took away. */
function releasesOf(sql: Sql, mint: string) {
  return sql`(select count(*) from (select from claim_release where event_id = ${mint} group by seq) as each)`;
}

/** The NFTs that count, by collection and serial, after the one given. */
export async function listCounted(
  sql: Sql,
  event: string,
  query: { readonly day: Day | null; readonly after?: Nft | undefined; readonly limit: number },
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

/** A star of an event, or an attribution that a check ended: then the id is the run's. */
export interface EventHappening extends StarNumbers {
  readonly kind: "star" | "release";
  readonly collection: "A" | "B" | null;
  readonly serial: number | null;
  readonly spare: number | null;
  readonly owner: string | null;
  readonly deleted: boolean | null;
  /** What ended it; null for a star. */
  readonly check: ListedCheck["kind"] | null;
  readonly order: number;
  /** How many steps the whole history has, counted with it; an event's day: 20,000 at most. */
  readonly steps: number;
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
  const ofDay = sql`from star where day = ${query.day} and target_type = 'event' and target_id = ${event}
    and at >= ${startOfDay(query.day)} and at < ${endOfDay(query.day)}`;
  return runStatement(sql<EventHappening[]>`
    select ${starColumns(sql)}, seq as order,
      (select count(*) from (select ${ofDay} limit ${STARS_SUMMED_MAX}) as first) as steps
    ${ofDay} and seq < ${before}::bigint order by seq desc limit ${query.limit}`);
}

/** A forever mint's stars and releases in the order of their commits, newest first. */
export async function happeningsOfMint(
  sql: Sql,
  mint: string,
  query: { readonly after?: AfterHappening | undefined; readonly limit: number },
): Promise<readonly EventHappening[]> {
  const { after, limit } = query;
  const before = after?.order ?? Number.MAX_SAFE_INTEGER;
  const steps = sql`(select stars + ${releasesOf(sql, mint)} from event_total where event_id = ${mint}) as steps`;
  return runStatement(sql<EventHappening[]>`
    (select ${starColumns(sql)}, page.seq as order, ${steps}
      from (select seq, day, star_id from mint_star
        where event_id = ${mint} and seq < ${before}::bigint order by seq desc limit ${limit}) page
      cross join lateral (select * from star where star.day = page.day and star.id = page.star_id limit 1) star)
    union all
    (select 'release', run_id, released_at, wallet, 0, -weight, 0, 0, 0, 0, 0,
        collection, serial, spare, owner, deleted,
        (select kind from holdings_check_run where id = run_id), seq, ${steps}
      from claim_release where event_id = ${mint}
        and (seq, collection, serial) < (${before}::bigint, ${after?.collection ?? ""}, ${after?.serial ?? 0}::bigint)
      order by seq desc, collection desc, serial desc limit ${limit})
    order by "order" desc, collection desc, serial desc limit ${limit}`);
}

function starColumns(sql: Sql) {
  return sql`'star' as kind, ${starNumbers(sql)}, null::text as collection, null::bigint as serial,
    null::bigint as spare, null::text as owner, null::boolean as deleted, null::text as check`;
}
