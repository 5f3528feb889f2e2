import { dayOf } from "../../actors/day.ts";
import { bounds } from "../bounds.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { namedLike } from "./named-like.ts";
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

/** How many of a ranking, and the instant it is of (epoch milliseconds). */
export interface TopQuery {
  readonly limit: number;
  readonly now: number;
}

/** A page of a ranking, or of those in it whose name has a part. */
export interface RankingQuery extends TopQuery {
  readonly offset: number;
  /** Part of a name, or of a token's symbol, in any case. */
  readonly q?: string | undefined;
}

/** A page with the number of all that pass, on all pages together; `rank` is that of the whole ranking. */
export interface RankingPage<R> {
  readonly rows: readonly (R & { readonly rank: number })[];
  readonly total: number;
}

/** Approved tokens, most starred first: today, then over 30 days, then by ledger number. */
export async function topTokens(sql: Sql, query: TopQuery): Promise<readonly TokenRow[]> {
  return top<TokenRow>(sql, tokens(sql), query);
}

/** Approved NFT collections, ordered as tokens are. */
export async function topCollections(sql: Sql, query: TopQuery): Promise<readonly CollectionRow[]> {
  return top<CollectionRow>(sql, collections(sql), query);
}

/** A page of the ranking of tokens. */
export function listTokens(sql: Sql, query: RankingQuery): Promise<RankingPage<TokenRow>> {
  return list<TokenRow>(sql, tokens(sql), query);
}

/** A page of the ranking of collections. */
export function listCollections(
  sql: Sql,
  query: RankingQuery,
): Promise<RankingPage<CollectionRow>> {
  return list<CollectionRow>(sql, collections(sql), query);
}

/** What is ranked, and what is shown of it. */
interface Ranked {
  readonly type: "token" | "collection";
  readonly columns: Fragment;
  /** Where a part of a name is looked for. */
  readonly name: Fragment;
}

/** Tokens, as rankings and their own pages show them. */
export const tokens = (sql: Sql): Ranked => ({
  type: "token",
  columns: sql`id, symbol, name, icon_url as "iconUrl", ${today(sql)}, price,
    market_cap as "marketCap", ${windows(sql)}`,
  name: sql`concat_ws(e'\n', name, symbol)`,
});

/** The same of NFT collections. */
export const collections = (sql: Sql): Ranked => ({
  type: "collection",
  columns: sql`id, name, image_url as "imageUrl", ${today(sql)}, owners, supply, ${windows(sql)}`,
  name: sql`name`,
});

async function top<R>(sql: Sql, ranked: Ranked, { limit, now }: TopQuery): Promise<readonly R[]> {
  const rows = await runStatement(
    sql<(R & { number: number })[]>`${ranking(sql, ranked, { limit, now, offset: 0 })}`,
    bounds.readDeadlineMs,
  );
  return rows.map(({ number: _, ...row }) => row as R);
}

async function list<R>(sql: Sql, ranked: Ranked, query: RankingQuery): Promise<RankingPage<R>> {
  const { type, name } = ranked;
  const { q, offset } = query;
  const page = q === undefined ? ranking(sql, ranked, query) : searched(sql, ranked, query);
  const rows = await runStatement(
    sql<(R & { total: number; number: number | null; rank?: number })[]>`
      select matching.total, page.*
      from (select count(*) as total from ${sql(type)}
        where approved_at is not null and ${namedLike(sql, q, name)}) as matching
      left join (${page}) as page on true
      ${order(sql)}`,
    bounds.readDeadlineMs,
  );
  // A page past the end still has its one row with the total, and nothing beside it.
  const found = rows.filter(({ number }) => number !== null);
  return {
    rows: found.map(({ total: _, number: __, rank, ...row }, index) => ({
      rank: rank ?? offset + index + 1,
      ...(row as R),
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
function ranking(sql: Sql, ranked: Ranked, { limit, offset, now }: RankingQuery): Fragment {
  const { type, columns } = ranked;
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
    (select ${columns}, number from ${sql(type)}
      cross join lateral ${itemWindows(sql, { type, now, id: sql`${sql(type)}.id` })} as given
      where (select is_short from way) and id in (select id from top) ${order(sql)} limit ${upTo})
    union all
    (${counted(sql, ranked, now)} and not (select is_short from way) ${order(sql)} limit ${upTo})
    ${order(sql)} limit ${limit} offset ${offset}`;
}

/** A page of those in the ranking whose name has a part: for their ranks all are counted. */
function searched(sql: Sql, ranked: Ranked, { limit, offset, now, q }: RankingQuery): Fragment {
  return sql`
    select * from (
      select *, row_number() over (${order(sql)}) as rank
      from (${counted(sql, ranked, now)}) as counted
    ) as whole
    where ${namedLike(sql, q, ranked.name)}
    order by rank limit ${limit} offset ${offset}`;
}

/** All approved items, counted. */
function counted(sql: Sql, { type, columns }: Ranked, now: number): Fragment {
  return sql`select ${columns}, number from ${sql(type)}
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
