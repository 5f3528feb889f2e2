import { hash } from "node:crypto";
import { bounds } from "../bounds.ts";
import { CLOCKS_DIFFER_MS, type FollowedClock } from "../clock.ts";
import { TerminalError } from "../errors.ts";
import { makeSecret } from "../keys/key-form.ts";
import { entityId, entityNumber } from "../ledger/entity-id.ts";
import type { MirrorKey } from "../ledger/public-key.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

/** A signed-in wallet. The token is shown once; only its hash is stored. */
export interface NewSession {
  readonly token: string;
  readonly wallet: string;
  readonly expiresAt: number;
}

/**
 * Opens a session for a wallet that has proved its key. A wallet has at most
 * `bounds.sessionsPerWalletMax`: the oldest goes, those from before the clock was set back first.
 *
 * @param opened.key of the account, as `keyFingerprint` makes it
 * @param opened.now epoch milliseconds
 */
export async function storeSession(
  sql: Sql,
  opened: { readonly wallet: string; readonly key: string; readonly now: number },
): Promise<NewSession> {
  const { wallet, key, now } = opened;
  const token = makeSecret();
  const expiresAt = now + bounds.sessionLifetimeMs;
  const account = entityNumber(wallet);
  const hash = sessionHash(token);
  await runStatement(
    sql`insert into session (token_hash, wallet, created_at, expires_at, key_fingerprint)
      values (decode(${hash}, 'hex'), ${account}, ${now}, ${expiresAt}, decode(${key}, 'hex'))`,
  );
  // A statement of its own: of sign-ins at the same time the last one sees all of them.
  await runStatement(sql`delete from session where token_hash in (
    select token_hash from session where wallet = ${account}
    order by token_hash <> decode(${hash}, 'hex'), created_at > ${now + CLOCKS_DIFFER_MS}::bigint,
      created_at desc, token_hash
    offset ${bounds.sessionsPerWalletMax})`);
  return { token, wallet, expiresAt };
}

/**
 * Ends the sessions of a wallet that were opened with another key than the account's present one,
 * so that rotating a stolen key ends the thief's sessions too.
 */
export async function closeSessionsOfOtherKeys(
  sql: Sql,
  { wallet, key }: { readonly wallet: string; readonly key: string },
): Promise<void> {
  await runStatement(sql`delete from session
    where wallet = ${entityNumber(wallet)} and key_fingerprint <> decode(${key}, 'hex')`);
}

/** SHA-256 in hex of a key as the mirror node shows it; of no key, another. */
export function keyFingerprint(key: MirrorKey): string {
  return hash("sha256", key === null ? "no key" : `${key._type}:${key.key.toLowerCase()}`);
}

/**
 * The wallets of session tokens, many in one select; answers in the order asked, null where a
 * token is unknown, expired or revoked. Never cached: revoking works at once, everywhere. The
 * clock is compared with the database's on the way, so that no voter meets a day that is over.
 */
export async function findSessions(
  sql: Sql,
  clock: FollowedClock,
  tokens: readonly string[],
): Promise<readonly (string | null)[]> {
  const askedAt = clock.now();
  const rows = await runStatement(sql<{ wallet: number | null; now: number }[]>`
    select wallet, present.now
    from (select now_ms() as now offset 0) as present cross join unnest(${tokens.map(sessionHash)}::text[])
      with ordinality as asked (hex, n)
    left join session on token_hash = decode(hex, 'hex') and expires_at > present.now
    order by n`);
  const [first] = rows;
  if (first !== undefined) await clock.compare(first.now, askedAt);
  return rows.map(({ wallet }) => (wallet === null ? null : entityId(wallet)));
}

/** Ends a session, at once and in every process. */
export async function closeSession(sql: Sql, token: string): Promise<void> {
  await runStatement(
    sql`delete from session where token_hash = decode(${sessionHash(token)}, 'hex')`,
  );
}

export function invalidSession(): TerminalError {
  return new TerminalError("INVALID_SESSION", "this session is unknown, expired or revoked");
}

/** SHA-256 of a token in hex, which is what is stored: 256 random bits need no slow hash. */
export function sessionHash(token: string): string {
  return hash("sha256", token);
}
