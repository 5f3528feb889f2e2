import type { Holdings } from "../../actors/holdings.ts";
import type { Clock } from "../clock.ts";
import { RetryableError } from "../errors.ts";
import { MirrorError } from "../ledger/mirror/error.ts";
import type { MirrorNode } from "../ledger/mirror/node.ts";

/** Reads what a wallet holds now. */
export type HoldingsReader = ReturnType<typeof createHoldingsReader>;

/** A busy mirror node recovers in seconds; asking sooner only keeps it busy. */
const RETRY_AFTER_SECONDS = 2;

/**
 * Holdings come from the mirror node while the star's request waits, both
 * collections side by side. Nothing is kept between stars; only reads of one
 * wallet that overlap in time share one answer.
 *
 * @param excludedWallets carry only the base weight, so they hold nothing here
 * @param deadlineMs for both collections, all pages and all retries together
 */
export function createHoldingsReader({
  mirror,
  collectionA,
  collectionB,
  excludedWallets,
  clock,
  deadlineMs,
}: {
  readonly mirror: Pick<MirrorNode, "nftsOf">;
  readonly collectionA: string;
  readonly collectionB: string;
  readonly excludedWallets: readonly string[];
  readonly clock: Clock;
  readonly deadlineMs: number;
}) {
  const excluded = new Set(excludedWallets);
  const collections = [collectionA, collectionB] as const;
  const reading = new Map<string, Promise<Holdings>>();

  const readBoth = async (wallet: string): Promise<Holdings> => {
    const readAt = clock.now();
    try {
      const [a, b] = await mirror.nftsOf(wallet, collections, { deadlineMs });
      return { collectionA: a, collectionB: b, readAt };
    } catch (error) {
      throw new RetryableError(
        "HOLDINGS_UNAVAILABLE",
        "The wallet's NFTs could not be read from the mirror node; no vote was spent.",
        RETRY_AFTER_SECONDS,
        error,
        tellWhy(error, deadlineMs),
      );
    }
  };

  return {
    /** Whether a star's holdings are being read at this moment. */
    isReading: () => reading.size > 0,
    /**
     * @param wallet canonical `0.0.n`
     * @throws RetryableError HOLDINGS_UNAVAILABLE when there is any doubt about the
     *   answer; never a guessed weight (contract, section 3)
     */
    async read(wallet: string): Promise<Holdings> {
      if (excluded.has(wallet)) {
        return { collectionA: [], collectionB: [], readAt: clock.now() };
      }
      const shared = reading.get(wallet);
      if (shared !== undefined) return shared;
      const own = readBoth(wallet).finally(() => reading.delete(wallet));
      reading.set(wallet, own);
      return own;
    },
  };
}

/** What the voter reads: to try again, or that it will not help. */
function tellWhy(error: unknown, deadlineMs: number): string {
  const seconds = deadlineMs / 1_000;
  const why =
    error instanceof MirrorError && error.fault === "too-large"
      ? `This wallet holds more NFTs than the mirror node gives us in ${seconds} s`
      : `The mirror node did not list this wallet's NFTs within ${seconds} s`;
  return `${why}. Nothing was spent.`;
}
