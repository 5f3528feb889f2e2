import type { Clock } from "../clock.ts";
import { badField, RetryableError, TerminalError } from "../errors.ts";
import { ENTITY_NUMBER_MAX, entityNumber, isEvmAddress } from "../ledger/entity-id.ts";
import type { MirrorKey } from "../ledger/public-key.ts";
import { isSupportedKey, verifyWalletSignature } from "../ledger/wallet-signature.ts";
import type { Sql } from "../store/postgres.ts";
import {
  type Challenge,
  consumeChallenge,
  findChallenge,
  issueChallenge,
  type Site,
} from "./challenge.ts";
import {
  closeSessionsOfOtherKeys,
  keyFingerprint,
  type NewSession,
  storeSession,
} from "./session.ts";
import type { ReadSignInAccount, SignInAccount } from "./sign-in-account.ts";

export interface SignInDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly readAccount: ReadSignInAccount;
  readonly site: Site;
}

export interface SignInRequest {
  /** `0.0.n`, or an EVM address in lower case. */
  readonly wallet: string;
  /** The `Origin` header; null without one. */
  readonly origin: string | null;
}

/**
 * Opens the way to a session: a text for the wallet to sign. It asks no mirror node, so that
 * requests without a signature cost the stars nothing; the account is judged at the session.
 *
 * @throws TerminalError `UNKNOWN_WALLET` when no ledger has such an id
 */
export async function startSignIn(deps: SignInDeps, asked: SignInRequest): Promise<Challenge> {
  if (!isEvmAddress(asked.wallet) && entityNumber(asked.wallet) > ENTITY_NUMBER_MAX) {
    throw new TerminalError("UNKNOWN_WALLET", "there is no such account");
  }
  return issueChallenge(deps.sql, deps.site, { ...asked, now: deps.clock.now() });
}

export interface SignedChallenge {
  readonly challengeId: string;
  readonly scheme: "hip820" | "eip191";
  readonly signature: string;
  readonly origin: string | null;
  /** When the caller has its answer, by `performance.now()`. From then on no challenge is spent. */
  readonly answerBy: number;
}

/**
 * Opens a session. The account is read first: a mirror outage spends no challenge, and a key
 * rotated since the challenge decides. Then the challenge is consumed, once, also where the
 * signature fails; what was signed is the stored text, never the client's. Sessions opened with
 * another key of the account end here, also where the signature fails.
 *
 * @throws TerminalError `CHALLENGE_EXPIRED`, `INVALID_REQUEST` (another `Origin` than the
 *   challenge's), `INVALID_SIGNATURE`, `UNKNOWN_WALLET`, `UNSUPPORTED_KEY`
 * @throws RetryableError `UNAVAILABLE` when the mirror node or Postgres is out or slow
 */
export async function openSession(deps: SignInDeps, signed: SignedChallenge): Promise<NewSession> {
  const { sql, clock } = deps;
  const challenge = await findChallenge(sql, { id: signed.challengeId, now: clock.now() });
  if (challenge === null) throw expired();
  if (signed.origin !== null && signed.origin !== challenge.origin) {
    throw badField("Origin", "another origin asked for this challenge");
  }
  const account = await deps.readAccount(challenge.wallet);
  if (performance.now() >= signed.answerBy) {
    throw new RetryableError("UNAVAILABLE", "the account was read too late");
  }
  if (!(await consumeChallenge(sql, { id: signed.challengeId, now: clock.now() }))) throw expired();
  if (account === null) throw new TerminalError("UNKNOWN_WALLET", "there is no such account");
  const { account: wallet } = account;
  const key = usableKey(account);
  const fingerprint = keyFingerprint(key);
  await closeSessionsOfOtherKeys(sql, { wallet, key: fingerprint });
  if (key === null) {
    throw new TerminalError("UNSUPPORTED_KEY", "this account has no key a wallet could sign with");
  }
  const { scheme, signature } = signed;
  if (!verifyWalletSignature({ scheme, signature, key, message: challenge.message })) {
    throw new TerminalError(
      "INVALID_SIGNATURE",
      "the signature does not satisfy the account's key",
    );
  }
  return storeSession(sql, { wallet, key: fingerprint, now: clock.now() });
}

function expired(): TerminalError {
  return new TerminalError("CHALLENGE_EXPIRED", "this challenge is unknown, used or expired");
}

/** The key that must sign for the account now; null where none can. */
function usableKey({ deleted, isContract, key }: NonNullable<SignInAccount>): MirrorKey {
  return deleted || isContract || !isSupportedKey(key) ? null : key;
}
