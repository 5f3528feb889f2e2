import { uuidv7 } from "uuidv7";
import { badField, TerminalError } from "../errors.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { UUID } from "../uuid.ts";
import { hashOf, makeKey, shownPrefix } from "./key-form.ts";

export interface IssuedKey {
  readonly id: string;
  readonly name: string;
  /** The key itself: this is the only time that anyone sees it. */
  readonly key: string;
  readonly createdAt: number;
}

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

/** A column of `api_key` refuses longer ones. */
const NAME_CHARACTERS_MAX = 300;

/**
 * Issues a key for one person or project; "only a hash of it is stored".
 *
 * @throws TerminalError `INVALID_REQUEST` for a name that is empty or too long
 */
export async function issueKey(sql: Sql, name: string): Promise<IssuedKey> {
  const trimmed = name.trim();
  if (trimmed === "" || [...trimmed].length > NAME_CHARACTERS_MAX) {
    throw badField("name", "a name of 1 to 300 characters is needed");
  }
  const key = makeKey();
  const [row] = await runStatement(sql<Omit<IssuedKey, "key">[]>`
    insert into api_key (id, name, prefix, hash, created_at)
    values (${uuidv7()}, ${trimmed}, ${shownPrefix(key)}, ${hashOf(key)}, now_ms())
    returning id, name, created_at as "createdAt"`);
  if (row === undefined) throw new Error("the key was not stored");
  return { id: row.id, name: row.name, key, createdAt: row.createdAt };
}

/** All keys ever issued, oldest first. */
export async function listKeys(sql: Sql): Promise<readonly ListedKey[]> {
  return runStatement(sql<ListedKey[]>`
    select ${columns(sql)} from api_key order by created_at, id`);
}

/**
 * Keys, newest first, a page of them.
 *
 * @param query.before only keys issued before the one of this id; all where there is none
 */
export async function newestKeys(
  sql: Sql,
  { before, limit }: { readonly before: string | null; readonly limit: number },
): Promise<readonly ListedKey[]> {
  const place = sql`(select created_at, id from api_key where id = ${before})`;
  return runStatement(sql<ListedKey[]>`
    select ${columns(sql)} from api_key
    where (created_at, id) < ${place} is not false order by created_at desc, id desc limit ${limit}`);
}

function columns(sql: Sql) {
  return sql`id, name, prefix, created_at as "createdAt", last_used_at as "lastUsedAt",
    revoked_at as "revokedAt"`;
}

/**
 * Revokes a key at once: a request that arrives after this has returned is refused in every
 * process. Revoking it again changes nothing.
 *
 * @returns when it was revoked, epoch milliseconds
 * @throws TerminalError `NOT_FOUND`
 */
export async function revokeKey(
  sql: Sql,
  id: string,
): Promise<{ readonly id: string; readonly revokedAt: number }> {
  const [row] = UUID.test(id)
    ? await runStatement(sql<{ id: string; revokedAt: number }[]>`
        select id, revoked_at as "revokedAt" from revoke_key(${id})`)
    : [];
  if (row === undefined) throw new TerminalError("NOT_FOUND", "no key has this id");
  return row;
}
