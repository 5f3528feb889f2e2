import { bulkhead, isBulkheadRejectedError } from "cockatiel";
import { RetryableError } from "../errors.ts";
import { recentlyUsed } from "../hosting/recently-used.ts";
import { MirrorError } from "../ledger/mirror/error.ts";
import type { MirrorNode } from "../ledger/mirror/node.ts";
import type { MirrorAccount } from "../ledger/mirror/schemas.ts";

/** An account as sign-in needs it; null: there is none. */
export type SignInAccount = (MirrorAccount & { readonly isContract: boolean }) | null;

/**
 * Reads an account for a session.
 *
 * @throws RetryableError `UNAVAILABLE` when the mirror node is out
 */
export type ReadSignInAccount = (wallet: string) => Promise<SignInAccount>;

/** A sign-in never waits longer for the mirror node: the whole answer is due within 2 s. */
const DEADLINE_MS = 1_500;
/** Accounts read at once; one at a time while stars wait for holdings, because their wallets signed. */
const READS_AT_ONCE = 4;
const READS_BEHIND_STARS = 1;
const READS_WAITING_MAX = 64;
/** An account just made, or a mirror node that lagged, is found this much later. */
const REMEMBERED_MS = 5_000;
const REMEMBERED_MAX = 1_000;

/**
 * Reads accounts, and remembers for seconds which are unknown or contracts: no signature changes
 * that, so asking again and again costs nothing. A key is never remembered; only readings of one
 * account that overlap in time are one, so that many uses of one challenge do not fill the queue.
 *
 * @param isStarWaiting whether the mirror node is being asked for a star
 * @param now a monotonic clock in milliseconds
 */
export function createSignInAccounts(
  mirror: Pick<MirrorNode, "account" | "isContract">,
  isStarWaiting: () => boolean,
  now: () => number = () => performance.now(),
): ReadSignInAccount {
  const gate = bulkhead(READS_AT_ONCE, READS_WAITING_MAX);
  const behindStars = bulkhead(READS_BEHIND_STARS, READS_AT_ONCE);
  const useless = recentlyUsed<{ readonly account: SignInAccount; readonly until: number }>(
    REMEMBERED_MAX,
  );
  const reading = new Map<string, Promise<SignInAccount>>();

  const read = async (wallet: string, endsAt: number): Promise<SignInAccount> => {
    const limits = () => {
      const deadlineMs = endsAt - now();
      if (deadlineMs > 0) return { deadlineMs };
      throw new MirrorError("timeout", `no account within ${DEADLINE_MS} ms`);
    };
    const account = await mirror.account(wallet, limits());
    // An EVM address is known by its account from here on, and an unknown one costs one reading.
    const isContract = account !== null && (await mirror.isContract(account.account, limits()));
    const found = account === null ? null : { ...account, isContract };
    if (found === null || isContract) {
      useless.set(wallet, { account: found, until: now() + REMEMBERED_MS });
    }
    return found;
  };

  const readInTurn = async (wallet: string): Promise<SignInAccount> => {
    // The wait for others counts too.
    const endsAt = now() + DEADLINE_MS;
    try {
      return await gate.execute(() =>
        isStarWaiting() ? behindStars.execute(() => read(wallet, endsAt)) : read(wallet, endsAt),
      );
    } catch (error) {
      if (!(error instanceof MirrorError) && !isBulkheadRejectedError(error)) throw error;
      throw new RetryableError("UNAVAILABLE", "the account's key cannot be read now", 1, error);
    }
  };

  return async (wallet) => {
    const known = useless.get(wallet);
    if (known !== undefined && known.until > now()) return known.account;
    const shared = reading.get(wallet);
    if (shared !== undefined) return shared;
    const own = readInTurn(wallet).finally(() => reading.delete(wallet));
    reading.set(wallet, own);
    return own;
  };
}
