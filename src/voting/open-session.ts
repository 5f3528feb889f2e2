import type { Clock } from "../clock.ts";
import { RetryableError, TerminalError } from "../errors.ts";
import { accountNumber } from "../journal/star-record.ts";
import { MirrorError } from "../ledger/mirror-error.ts";
import type { MirrorNode } from "../ledger/mirror-node.ts";
import type { MirrorKey } from "../ledger/public-key.ts";
import { isSupportedKey, verifyWalletSignature } from "../ledger/wallet-signature.ts";
import type { Sql } from "../store/postgres.ts";
import { type Challenge, consumeChallenge, issueChallenge, type Site } from "./challenge.ts";
import { type NewSession, storeSession } from "./session.ts";

export interface SignInDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly mirror: Pick<MirrorNode, "account" | "isContract">;
  readonly site: Site;
}

/** A sign-in never waits longer for the mirror node: the whole answer is due within 2 s. */
const ACCOUNT_DEADLINE_MS = 1_500;

/**
 * Opens the way to a session: a text for the wallet to sign.
 *
 * @param wallet canonical `0.0.n`
 * @throws TerminalError `UNKNOWN_WALLET`, `UNSUPPORTED_KEY`
 * @throws RetryableError `UNAVAILABLE` when the mirror node or Postgres is out
 */
export async function startSignIn(deps: SignInDeps, wallet: string): Promise<Challenge> {
  await currentKey(deps.mirror, wallet);
  return issueChallenge(deps.sql, deps.site, { wallet, now: deps.clock.now() });
}

/** A signed challenge, as a wallet returns it. */
export interface SignedChallenge {
  readonly challengeId: string;
  readonly scheme: "hip820" | "eip191";
  readonly signature: string;
}

/**
 * Opens a session. The challenge is consumed first, once, whatever comes of it; what was
 * signed is the stored text, never the client's; the key is the account's at this moment, so
 * a key rotated since the challenge decides.
 *
 * @throws TerminalError `CHALLENGE_EXPIRED`, `INVALID_SIGNATURE`, `UNKNOWN_WALLET`,
 *   `UNSUPPORTED_KEY`
 * @throws RetryableError `UNAVAILABLE` when the mirror node or Postgres is out
 */
export async function openSession(deps: SignInDeps, signed: SignedChallenge): Promise<NewSession> {
  const now = deps.clock.now();
  const challenge = await consumeChallenge(deps.sql, { id: signed.challengeId, now });
  if (challenge === null) {
    throw new TerminalError("CHALLENGE_EXPIRED", "this challenge is unknown, used or expired");
  }
  const key = await currentKey(deps.mirror, challenge.wallet);
  const { scheme, signature } = signed;
  if (!verifyWalletSignature({ scheme, signature, key, message: challenge.message })) {
    throw new TerminalError(
      "INVALID_SIGNATURE",
      "the signature does not satisfy the account's key",
    );
  }
  return storeSession(deps.sql, { wallet: challenge.wallet, now: deps.clock.now() });
}

/** Ids hold 38 bits of number; asked for more, a mirror node answers 400 and not 404. */
const ACCOUNT_NUMBER_MAX = 2 ** 38 - 1;

/** The key that must sign for the wallet now. */
async function currentKey(mirror: SignInDeps["mirror"], wallet: string): Promise<MirrorKey> {
  if (accountNumber(wallet) > ACCOUNT_NUMBER_MAX)
    throw new TerminalError("UNKNOWN_WALLET", "there is no such account");
  const limits = { deadlineMs: ACCOUNT_DEADLINE_MS };
  const [account, isContract] = await Promise.all([
    mirror.account(wallet, limits),
    mirror.isContract(wallet, limits),
  ]).catch((error) => {
    if (!(error instanceof MirrorError)) throw error;
    throw new RetryableError("UNAVAILABLE", "the account's key cannot be read now", 1, error);
  });
  if (account === null) throw new TerminalError("UNKNOWN_WALLET", "there is no such account");
  // Other spellings were refused before; the mirror's own is the one voter.
  if (account.account !== wallet)
    throw new TerminalError("UNKNOWN_WALLET", "there is no such account");
  if (account.deleted || isContract || account.key === null || !isSupportedKey(account.key)) {
    throw new TerminalError("UNSUPPORTED_KEY", "this account has no key a wallet could sign with");
  }
  return account.key;
}
