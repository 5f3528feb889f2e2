import { hash, randomBytes } from "node:crypto";
import type { FollowedClock } from "../clock.ts";
import { bounds } from "../config.ts";
import { TerminalError } from "../errors.ts";
import { accountNumber, walletOf } from "../journal/star-record.ts";
import { inTime, type Sql } from "../store/postgres.ts";

/** A signed-in wallet. The token is shown once; only its hash is stored. */
export interface NewSession {
  readonly token: string;
  readonly wallet: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Opens a session for a wallet that has proved its key; `now` in epoch milliseconds. */
export async function storeSession(
  sql: Sql,
  { wallet, now }: { readonly wallet: string; readonly now: number },
): Promise<NewSession> {
  const token = randomBytes(32).toString("base64url");
  const expiresAt = now + bounds.sessionLifetimeMs;
  await inTime(
    sql`insert into session (token_hash, wallet, created_at, expires_at)
      values (decode(${sessionHash(token)}, 'hex'), ${accountNumber(wallet)}, ${now}, ${expiresAt})`,
  );
  return { token, wallet, expiresAt };
}

/**
 * The wallets of session tokens, many in one select; answers in the order asked, null where a
 * token is unknown, expired or revoked. Never cached: revoking works at once, everywhere. The
 * clock hears the database's time on the way, so that nobody signed in meets a day that is over.
 */
export async function findSessions(
  sql: Sql,
  clock: FollowedClock,
  tokens: readonly string[],
): Promise<readonly (string | null)[]> {
  const askedAt = clock.now();
  const rows = await inTime(
    sql<{ wallet: number | null; now: number }[]>`
      select wallet, present.now
      from (select now_ms() as now offset 0) as present cross join unnest(${tokens.map(sessionHash)}::text[])
        with ordinality as asked (hex, n)
      left join session on token_hash = decode(hex, 'hex') and expires_at > present.now
      order by n`,
  );
  const [first] = rows;
  if (first !== undefined) await clock.compare(first.now, askedAt);
  return rows.map(({ wallet }) => (wallet === null ? null : walletOf(wallet)));
}

/** Ends a session, at once and in every process. */
export async function closeSession(sql: Sql, token: string): Promise<void> {
  await inTime(sql`delete from session where token_hash = decode(${sessionHash(token)}, 'hex')`);
}

/** What whoever shows a session that is none is told. */
export function invalidSession(): TerminalError {
  return new TerminalError("INVALID_SESSION", "this session is unknown, expired or revoked");
}

/** SHA-256 of a token in hex, which is what is stored: 256 random bits need no slow hash. */
export function sessionHash(token: string): string {
  return hash("sha256", token);
}
