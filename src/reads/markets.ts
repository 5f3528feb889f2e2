import { dayOf } from "../../actors/day.ts";
import { bounds } from "../bounds.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { type NamedQuery, namedLike } from "./named-like.ts";
import { type Fragment, itemWindows, starWindows } from "./star-windows.ts";

/** Weights of an item's stars. */
export interface StarCounts {
  /** Today's, by UTC: the stored counter restarts from zero at 00:00. */
  readonly totalVotes: number;
  readonly votes7d: number;
  readonly votes30d: number;
}

export interface TokenRow extends StarCounts {
  readonly id: string;
  readonly symbol: string;
  readonly name: string;
  readonly iconUrl: string | null;
  /** US dollars. */
  readonly price: number | null;
  readonly marketCap: number | null;
}

export interface CollectionRow extends StarCounts {
  readonly id: string;
  readonly name: string;
  readonly imageUrl: string | null;
  readonly owners: number | null;
  readonly supply: number | null;
}

/** How many of a ranking, and the instant it is of. */
export type TopQuery = Pick<NamedQuery, "limit" | "now">;

/** A page with the number of all that pass, on all pages together; `rank` is that of the whole ranking. */
export interface RankingPage<R> {
  readonly rows: readonly (R & { readonly rank: number })[];
  readonly total: number;
}

export interface RankedRows {
  readonly token: TokenRow;
  readonly collection: CollectionRow;
}

export type RankedType = keyof RankedRows;

/** What of a type is shown, and where a part of a name is looked for. */
interface Ranked {
  readonly columns: (sql: Sql) => Fragment;
  readonly name: (sql: Sql) => Fragment;
}

/** As rankings and the items' own pages show them. */
export const RANKED: Readonly<Record<RankedType, Ranked>> = {
  token: {
    columns: (sql) => sql`id, symbol, name, icon_url as "iconUrl", ${today(sql)}, price,
      market_cap as "marketCap", ${windows(sql)}`,
    name: (sql) => sql`concat_ws(e'\n', name, symbol)`,
  },
  collection: {
    columns: (sql) =>
      sql`id, name, image_url as "imageUrl", ${today(sql)}, owners, supply, ${windows(sql)}`,
    name: (sql) => sql`name`,
  },
};

/** Approved tokens or NFT collections, most starred first: today, then over 30 days, then by ledger number. */
export async function topRanked<T extends RankedType>(
  sql: Sql,
  type: T,
  { limit, now }: TopQuery,
): Promise<readonly RankedRows[T][]> {
  const rows = await runStatement(
    sql<(RankedRows[T] & { number: number })[]>`${ranking(sql, type, { limit, now, offset: 0 })}`,
    bounds.readDeadlineMs,
  );
  // TypeScript cannot tell that a row of `T` without `number` is `RankedRows[T]` again.
  return rows.map(({ number: _, ...row }) => row as unknown as RankedRows[T]);
}

/** A page of the ranking of tokens or collections. */
export async function listRanked<T extends RankedType>(
  sql: Sql,
  type: T,
  query: NamedQuery,
): Promise<RankingPage<RankedRows[T]>> {
  const { q, offset } = query;
  const table: RankedType = type;
  const page = q === undefined ? ranking(sql, type, query) : searched(sql, type, query);
  const rows = await runStatement(
    sql<(RankedRows[T] & { total: number; number: number | null; rank?: number })[]>`
      select matching.total, page.*
      from (select count(*) as total from ${sql(table)}
        where approved_at is not null and ${namedLike(sql, q, RANKED[type].name(sql))}) as matching
      left join (${page}) as page on true
      ${order(sql)}`,
    bounds.readDeadlineMs,
  );
  // A page past the end still has its one row with the total, and nothing beside it.
  const found = rows.filter(({ number }) => number !== null);
  return {
    rows: found.map(({ total: _, number: __, rank, ...row }, index) => ({
      rank: rank ?? offset + index + 1,
      // As in `topRanked`.
      ...(row as unknown as RankedRows[T]),
    })),
    total: rows[0]?.total ?? 0,
  };
}

/** One costs some 0.25 ms, counting all of 10,000 items 230 ms: beyond this the second is cheaper. */
const CANDIDATES_MAX = 400;

/** Most starred first: today, then over 30 days, then by ledger number. */
const order = (sql: Sql) => sql`order by "totalVotes" desc, "votes30d" desc, number`;

/**
 * A page of the ranking. Today's stars decide first. Where they alone settle which items can be
 * among the top, most of the day, only those items' 30 days are looked up; where too few have a
 * star today, or too many are tied at the end of the top, all are counted. One statement, so that
 * both see one state; the way that is not taken never starts (a one-time filter).
 */
function ranking(sql: Sql, type: RankedType, { limit, offset, now }: NamedQuery): Fragment {
  const upTo = limit + offset;
  return sql`
    with starred as materialized (
      select id, weight from item_day join ${sql(type)} on id = target_id
      where target_type = ${type} and day = ${dayOf(now)} and weight > 0 and approved_at is not null
    ), top as materialized (
      select id from starred where weight >= (
        select weight from starred order by weight desc offset ${upTo - 1} limit 1)
    ), way as materialized (
      select count(*) between 1 and ${CANDIDATES_MAX}::int as is_short from top
    )
    (select ${RANKED[type].columns(sql)}, number from ${sql(type)}
      cross join lateral ${itemWindows(sql, { type, now, id: sql`${sql(type)}.id` })} as given
      where (select is_short from way) and id in (select id from top) ${order(sql)} limit ${upTo})
    union all
    (${counted(sql, type, now)} and not (select is_short from way) ${order(sql)} limit ${upTo})
    ${order(sql)} limit ${limit} offset ${offset}`;
}

/** A page of those in the ranking whose name has a part: for their ranks all are counted. */
function searched(sql: Sql, type: RankedType, { limit, offset, now, q }: NamedQuery): Fragment {
  return sql`
    select * from (
      select *, row_number() over (${order(sql)}) as rank
      from (${counted(sql, type, now)}) as counted
    ) as whole
    where ${namedLike(sql, q, RANKED[type].name(sql))}
    order by rank limit ${limit} offset ${offset}`;
}

function counted(sql: Sql, type: RankedType, now: number): Fragment {
  return sql`select ${RANKED[type].columns(sql)}, number from ${sql(type)}
    left join ${starWindows(sql, type, now)} as given on given.target_id = ${sql(type)}.id
    where approved_at is not null`;
}

/** Today's counter beside an item that may never have been starred. */
export function today(sql: Sql) {
  return sql`coalesce(given.today, 0) as "totalVotes"`;
}

/** Its two windows. */
export function windows(sql: Sql) {
  return sql`coalesce(given.votes7d, 0) as "votes7d", coalesce(given.votes30d, 0) as "votes30d"`;
}
