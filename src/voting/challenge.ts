import { randomBytes } from "node:crypto";
import { uuidv7 } from "uuidv7";
import { instant } from "../../actors/day.ts";
import { bounds } from "../bounds.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

/** A text to be signed, once, within five minutes. */
export interface Challenge {
  readonly id: string;
  /** `0.0.n`, or an EVM address in lower case: as it was asked for. */
  readonly wallet: string;
  /** ASCII, in the layout of EIP-4361. */
  readonly message: string;
  readonly expiresAt: number;
}

/** Where the service lives, as the signer reads it. */
export interface Site {
  readonly publicUrl: string;
  /** Origins whose pages may ask for a text that names them: our own and `VOTING_ORIGINS`. */
  readonly origins: readonly string[];
  readonly network: string;
}

/** What was asked for, and is to be signed. */
export interface AskedChallenge extends Pick<Challenge, "wallet" | "message"> {
  /** The `Origin` of the request; that of the public URL where it had none. */
  readonly origin: string;
}

/**
 * Writes and stores a challenge. Every line binds the signature: to this site, this network,
 * this wallet, this moment. ASCII alone, because wallets disagree on the length of anything
 * else (HIP-820). The site is that of the page that asks, where its origin is allowed: wallets
 * compare the two.
 *
 * @param asked.origin the request's `Origin`, null without one
 * @param asked.now epoch milliseconds
 */
export async function issueChallenge(
  sql: Sql,
  site: Site,
  asked: { readonly wallet: string; readonly origin: string | null; readonly now: number },
): Promise<Challenge> {
  const { wallet, origin, now } = asked;
  const isAllowed = origin !== null && site.origins.includes(origin);
  const url = new URL(isAllowed ? origin : site.publicUrl);
  const expiresAt = now + bounds.challengeLifetimeMs;
  const message = [
    `${url.host} wants you to sign in with your Hedera account:`,
    wallet,
    "",
    "Sign in to give stars. This costs nothing and moves nothing.",
    "",
    `URI: ${url.href}`,
    "Version: 1",
    `Chain ID: hedera:${site.network}`,
    `Nonce: ${randomBytes(16).toString("hex")}`,
    `Issued At: ${instant(now)}`,
    `Expiration Time: ${instant(expiresAt)}`,
  ].join("\n");
  const id = uuidv7();
  await runStatement(sql`insert into challenge (id, wallet, origin, message, expires_at)
    values (${id}, ${wallet}, ${origin ?? url.origin}, ${message}, ${expiresAt})`);
  return { id, wallet, message, expiresAt };
}

/**
 * What a challenge asked for, as long as it can be used.
 *
 * @returns null when it is unknown, used or expired
 */
export async function findChallenge(
  sql: Sql,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<AskedChallenge | null> {
  const [row] = await runStatement(sql<AskedChallenge[]>`
    select wallet, origin, message from challenge where id = ${id} and expires_at > ${now}`);
  return row ?? null;
}

/**
 * Consumes a challenge: at most one caller ever gets it.
 *
 * @returns false when it is unknown, used or expired
 */
export async function consumeChallenge(
  sql: Sql,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<boolean> {
  const [row] = await runStatement(
    sql<{ expires_at: number }[]>`delete from challenge where id = ${id} returning expires_at`,
  );
  return row !== undefined && row.expires_at > now;
}
