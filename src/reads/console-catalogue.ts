import type { TargetType } from "../../actors/content.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { recordRevision, wholeRecord } from "../store/whole-record.ts";

/** A record as an operator judges it. Instants are epoch milliseconds. */
export interface CatalogueRecord {
  readonly id: string;
  readonly name: string;
  /** What helps to judge it, in its own words: type and source, symbol, category. */
  readonly about: string;
  readonly url: string | null;
  readonly createdAt: number;
  readonly approvedAt: number | null;
  /** The whole record, by the names of its columns; instants are epoch milliseconds. */
  readonly whole: Readonly<Record<string, unknown>>;
  /** A hash of `whole`. */
  readonly revision: string;
}

export async function countWaiting(sql: Sql): Promise<Readonly<Record<TargetType, number>>> {
  const [row] = await runStatement(sql<[Record<TargetType, number>]>`
    select (select count(*) from event where approved_at is null) as event,
      (select count(*) from token where approved_at is null) as token,
      (select count(*) from collection where approved_at is null) as collection,
      (select count(*) from project where approved_at is null) as project`);
  return row;
}

export interface RecordsAsked {
  readonly type: TargetType;
  /** Approved ones, or those that wait. */
  readonly isApproved: boolean;
  /** Only ids after this one; empty for the first page. */
  readonly after: string;
  readonly limit: number;
}

/** Records of a type by id, a page of them. */
export async function catalogueRecords(
  sql: Sql,
  { type, isApproved, after, limit }: RecordsAsked,
): Promise<readonly CatalogueRecord[]> {
  return runStatement(sql<CatalogueRecord[]>`
    select id, ${columns[type](sql)}, created_at as "createdAt", approved_at as "approvedAt",
      ${wholeRecord(sql)} as whole, ${recordRevision(sql)} as revision
    from ${sql(type)} record
    where id > ${after} and ${isApproved ? sql`approved_at is not null` : sql`approved_at is null`}
    order by id limit ${limit}`);
}

const columns = {
  event: (sql: Sql) => sql`title as name, url,
    concat_ws(' · ', case when is_forever_mint then 'forever mint' else replace(lower(event_type), '_', ' ') end,
      source, host, location) as about`,
  token: (sql: Sql) => sql`name, null as url, symbol as about`,
  collection: (sql: Sql) => sql`name, null as url,
    coalesce(supply || ' NFTs', 'supply not read yet') as about`,
  project: (sql: Sql) => sql`name, website_url as url,
    concat_ws(' · ', lower(category), country, ledger_id) as about`,
} as const;
