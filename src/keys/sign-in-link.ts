import { runStatement, type Sql } from "../store/postgres.ts";
import { hashOf, isSecret, makeSecret } from "./key-form.ts";

/** Long enough to read the screen and press it. */
const LINK_LIFETIME_MS = 15 * 60_000;

/**
 * Makes a link that signs one browser in at the console as `environment`, once and within 15
 * minutes. It is for the screen of the person who starts the service; only its hash is stored.
 *
 * @param url where the web process answers
 */
export async function makeSignInLink(sql: Sql, url: string): Promise<string> {
  const secret = makeSecret();
  await runStatement(sql`
    with over as (delete from operator_link where expires_at < now_ms())
    insert into operator_link (token_hash, expires_at)
    values (${hashOf(secret)}, now_ms() + ${LINK_LIFETIME_MS}::bigint)`);
  return `${url}/ops/sign-in?once=${secret}`;
}

/** Uses a link up. @returns whether it was good: of several who try, one is let in */
export async function takeSignInLink(sql: Sql, secret: string): Promise<boolean> {
  if (!isSecret(secret)) return false;
  const rows = await runStatement(sql<{ isGood: boolean }[]>`
    delete from operator_link where token_hash = ${hashOf(secret)}
    returning expires_at > now_ms() as "isGood"`);
  return rows[0]?.isGood ?? false;
}
