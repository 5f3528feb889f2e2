import { TerminalError } from "../errors.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

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
