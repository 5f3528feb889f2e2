import { inTime, type Sql } from "../store/postgres.ts";

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
  return await inTime(sql<ListedKey[]>`
    select id, name, prefix, created_at as "createdAt", last_used_at as "lastUsedAt",
      revoked_at as "revokedAt"
    from api_key order by created_at, id`);
}
