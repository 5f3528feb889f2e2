import { instant } from "../../actors/day.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import type { RecordType } from "./record-type.ts";

/**
 * A record as a catalogue file has it, with `approvedAt`; instants RFC 3339. Of an export,
 * everything but `approvedAt` can be imported again.
 */
export type ListedRecord = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly approvedAt: string | null;
};

/** All records of a type, approved or not, in the order of their ids. */
export async function listRecords(sql: Sql, type: RecordType): Promise<readonly ListedRecord[]> {
  const rows = await runStatement(
    sql<ListedRecord[]>`
      select ${columns[type](sql)}, created_at as "createdAt", approved_at as "approvedAt"
      from ${sql(type)} order by id collate "C"`,
    LIST_DEADLINE_MS,
  );
  return rows.map((row) => ({ ...row, ...inWords(row) }));
}

/** For directories of 100,000 records; the pool given needs a statement_timeout as long. */
export const LIST_DEADLINE_MS = 60_000;

const columns = {
  event: (sql: Sql) => sql`
    id, title, description, event_type as "eventType", is_forever_mint as "isForeverMint", source,
    starts_at as "startsAt", ends_at as "endsAt", host, location, image_url as "imageUrl", url,
    links, prizes`,
  token: (sql: Sql) => sql`
    id, symbol, name, icon_url as "iconUrl", price, market_cap as "marketCap"`,
  collection: (sql: Sql) => sql`id, name, image_url as "imageUrl", owners, supply`,
  project: (sql: Sql) => sql`
    id, slug, name, category, country, description, logo_url as "logoUrl",
    website_url as "websiteUrl", ledger_id as "ledgerId"`,
} as const;

const INSTANTS = ["startsAt", "endsAt", "createdAt", "approvedAt"] as const;

function inWords(row: ListedRecord) {
  const given = INSTANTS.filter((name) => name in row).map((name) => {
    const at: unknown = row[name];
    return [name, typeof at === "number" ? instant(at) : null] as const;
  });
  return Object.fromEntries(given);
}
