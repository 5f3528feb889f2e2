import { runStatement, type Sql } from "../store/postgres.ts";

/** An issued key as lists show it; instants are epoch milliseconds. */
export interface ListedKey {
  readonly id: string;
  readonly name: string;
  /** How the key begins; the rest is known to its owner alone. */
  readonly prefix: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

/** All keys ever issued, oldest first. */
export async function listKeys(sql: Sql): Promise<readonly ListedKey[]> {
  return await runStatement(sql<ListedKey[]>`
    select ${columns(sql)} from api_key order by created_at, id`);
}

/**
 * Keys, newest first, a page of them.
 *
 * @param query.before only keys issued before the one of this id
 */
export async function newestKeys(
  sql: Sql,
  { before, limit }: { readonly before: string | null; readonly limit: number },
): Promise<readonly ListedKey[]> {
  // Ids rise with the instant of issue.
  return await runStatement(sql<ListedKey[]>`
    select ${columns(sql)} from api_key
    where ${before === null ? sql`true` : sql`id < ${before}`} order by id desc limit ${limit}`);
}

function columns(sql: Sql) {
  return sql`id, name, prefix, created_at as "createdAt", last_used_at as "lastUsedAt",
    revoked_at as "revokedAt"`;
}
