import { randomBytes } from "node:crypto";
import { uuidv7 } from "uuidv7";
import { bounds } from "../config.ts";
import { accountNumber } from "../journal/star-record.ts";
import type { Sql } from "../store/postgres.ts";
import { inTime } from "../store/postgres.ts";
import { instant } from "./star-reply.ts";

/** A text to be signed, once, within five minutes. */
export interface Challenge {
  readonly id: string;
  readonly wallet: string;
  /** ASCII, in the layout of EIP-4361. */
  readonly message: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Where the service lives, as the signer is told. */
export interface Site {
  /** The public URL of the service. */
  readonly publicUrl: string;
  readonly network: string;
}

/**
 * Writes and stores a challenge. Every line binds the signature: to this site, this network,
 * this wallet, this moment. ASCII alone, because wallets disagree on the length of anything
 * else (HIP-820).
 *
 * @param now epoch milliseconds
 */
export async function issueChallenge(
  sql: Sql,
  site: Site,
  { wallet, now }: { readonly wallet: string; readonly now: number },
): Promise<Challenge> {
  const expiresAt = now + bounds.challengeLifetimeMs;
  const message = [
    `${new URL(site.publicUrl).host} wants you to sign in with your Hedera account:`,
    wallet,
    "",
    "Sign in to give stars. This costs nothing and moves nothing.",
    "",
    `URI: ${new URL(site.publicUrl).href}`,
    "Version: 1",
    `Chain ID: hedera:${site.network}`,
    `Nonce: ${randomBytes(16).toString("hex")}`,
    `Issued At: ${instant(now)}`,
    `Expiration Time: ${instant(expiresAt)}`,
  ].join("\n");
  const id = uuidv7();
  await inTime(
    sql`insert into challenge (id, wallet, message, expires_at)
      values (${id}, ${accountNumber(wallet)}, ${message}, ${expiresAt})`,
  );
  return { id, wallet, message, expiresAt };
}

/**
 * Consumes a challenge: at most one caller ever gets it.
 *
 * @returns null when it is unknown, used or expired
 */
export async function consumeChallenge(
  sql: Sql,
  { id, now }: { readonly id: string; readonly now: number },
): Promise<Pick<Challenge, "wallet" | "message"> | null> {
  const [row] = await inTime(
    sql<{ wallet: number; message: string; expires_at: number }[]>`
      delete from challenge where id = ${id} returning wallet, message, expires_at`,
  );
  return row === undefined || row.expires_at <= now
    ? null
    : { wallet: `0.0.${row.wallet}`, message: row.message };
}
