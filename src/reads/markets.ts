import { dayOf } from "../../actors/day.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { READ_DEADLINE_MS } from "./deadline.ts";
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

/** Approved tokens, most starred first: today, then over 30 days, then by ledger number. */
export async function topTokens(sql: Sql, { limit, now }: TopQuery): Promise<readonly TokenRow[]> {
  const columns = sql`id, symbol, name, icon_url as "iconUrl", ${today(sql)}, price,
    market_cap as "marketCap", ${windows(sql)}`;
  const rows = await ranking<TokenRow>(sql, { type: "token", columns, limit, now });
  return rows.map(({ number: _, ...row }) => row);
}

/** Approved NFT collections, ordered as tokens are. */
export async function topCollections(
  sql: Sql,
  { limit, now }: TopQuery,
): Promise<readonly CollectionRow[]> {
  const columns = sql`id, name, image_url as "imageUrl", ${today(sql)}, owners, supply, ${windows(sql)}`;
  const rows = await ranking<CollectionRow>(sql, { type: "collection", columns, limit, now });
  return rows.map(({ number: _, ...row }) => row);
}

/** One costs some 0.25 ms, counting all of 10,000 items 230 ms: beyond this the second is cheaper. */
const CANDIDATES_MAX = 400;

interface RankingQuery extends TopQuery {
  readonly type: "token" | "collection";
  readonly columns: Fragment;
}

/**
 * Today's stars decide first. Where they alone settle which items can be among the top, most of
 * the day, only those items' 30 days are looked up; where too few have a star today, or too many
 * are tied at the end of the top, all are counted. One statement, so that both see one state;
 * the way that is not taken never starts (a one-time filter).
 */
async function ranking<R>(
  sql: Sql,
  { type, columns, limit, now }: RankingQuery,
): Promise<readonly (R & { readonly number: number })[]> {
  const order = sql`order by "totalVotes" desc, "votes30d" desc, number limit ${limit}`;
  return await runStatement(
    sql<(R & { number: number })[]>`
      with starred as materialized (
        select id, weight from item_day join ${sql(type)} on id = target_id
        where target_type = ${type} and day = ${dayOf(now)} and weight > 0 and approved_at is not null
      ), top as materialized (
        select id from starred where weight >= (
          select weight from starred order by weight desc offset ${limit - 1} limit 1)
      ), way as materialized (
        select count(*) between 1 and ${CANDIDATES_MAX}::int as is_short from top
      )
      (select ${columns}, number from ${sql(type)}
        cross join lateral ${itemWindows(sql, { type, now, id: sql`${sql(type)}.id` })} as given
        where (select is_short from way) and id in (select id from top) ${order})
      union all
      (select ${columns}, number from ${sql(type)}
        left join ${starWindows(sql, type, now)} as given on given.target_id = ${sql(type)}.id
        where not (select is_short from way) and approved_at is not null ${order})
      ${order}`,
    READ_DEADLINE_MS,
  );
}

/** Today's counter beside an item that may never have been starred. */
export function today(sql: Sql) {
  return sql`coalesce(given.today, 0) as "totalVotes"`;
}

/** Its two windows. */
export function windows(sql: Sql) {
  return sql`coalesce(given.votes7d, 0) as "votes7d", coalesce(given.votes30d, 0) as "votes30d"`;
}
