import { inTime, type Sql } from "../store/postgres.ts";
import { READ_DEADLINE_MS } from "./deadline.ts";
import { starWindows } from "./star-windows.ts";

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
  return await inTime(
    sql<TokenRow[]>`
      select id, symbol, name, icon_url as "iconUrl", ${today(sql)}, price,
        market_cap as "marketCap", ${windows(sql)}
      from token left join ${starWindows(sql, "token", now)} as given on given.target_id = token.id
      where approved_at is not null
      order by "totalVotes" desc, "votes30d" desc, number limit ${limit}`,
    READ_DEADLINE_MS,
  );
}

/** Approved NFT collections, ordered as tokens are. */
export async function topCollections(
  sql: Sql,
  { limit, now }: TopQuery,
): Promise<readonly CollectionRow[]> {
  return await inTime(
    sql<CollectionRow[]>`
      select id, name, image_url as "imageUrl", ${today(sql)}, owners, supply, ${windows(sql)}
      from collection
      left join ${starWindows(sql, "collection", now)} as given on given.target_id = collection.id
      where approved_at is not null
      order by "totalVotes" desc, "votes30d" desc, number limit ${limit}`,
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
