import type { Holdings } from "../../actors/weight.ts";
import type { Clock } from "../clock.ts";
import { RetryableError } from "../errors.ts";
import { MirrorError, type MirrorFault } from "../ledger/mirror/error.ts";
import { isBehind } from "../ledger/mirror/is-behind.ts";
import type { OneNode } from "../ledger/mirror/limits.ts";
import type { MirrorNode } from "../ledger/mirror/node.ts";
import type { MirrorNft } from "../ledger/mirror/schemas.ts";
import { msOf } from "../ledger/transaction-id.ts";

/** An NFT, and since when it has counted for another wallet, epoch ms. */
export interface CountedNft {
  readonly collection: "A" | "B";
  readonly serial: number;
  readonly since: number;
}

export type HoldingsReader = ReturnType<typeof createHoldingsReader>;

/** A busy mirror node recovers in seconds; asking sooner only keeps it busy. */
const RETRY_AFTER_SECONDS = 2;
const UNSPENT = "Nothing was spent.";

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
  readonly mirror: Pick<MirrorNode, "nftsOf" | "nft" | "newestBlock">;
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
      throw unavailable(error, deadlineMs);
    }
  };
  const hasTaken = async (wallet: string, { collection, serial, since }: CountedNft) => {
    const endsAt = performance.now() + deadlineMs;
    const limits = () => ({ deadlineMs: Math.max(1, endsAt - performance.now()) });
    const token = collection === "A" ? collectionA : collectionB;
    const ask = (oneNode?: OneNode) => mirror.nft(token, serial, { oneNode, ...limits() });
    const isHeld = (nft: MirrorNft | null): nft is MirrorNft => {
      return nft !== null && !nft.deleted && nft.owner === wallet;
    };
    const seen = await ask();
    if (!isHeld(seen)) return false;
    if (seen.changedAt === null || msOf(seen.changedAt) >= since) return true;
    // Asked before the NFT, and of the same node: what is read later is at least as new.
    const oneNode: OneNode = {};
    const limited = { oneNode, ...limits() };
    return !(await isBehind({ mirror, clock }, since, limited)) && isHeld(await ask(oneNode));
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
    /**
     * Whether a wallet holds an NFT by the NFT's own reading, which is as new as the star that it counts
     * with: a mirror node that is behind that star may show who had it before.
     *
     * @throws RetryableError HOLDINGS_UNAVAILABLE as `read`
     */
    hasTaken: (wallet: string, nft: CountedNft): Promise<boolean> =>
      hasTaken(wallet, nft).catch((error: unknown) => {
        throw unavailable(error, deadlineMs);
      }),
  };
}

function unavailable(error: unknown, deadlineMs: number): RetryableError {
  return new RetryableError(
    "HOLDINGS_UNAVAILABLE",
    "The wallet's NFTs could not be read from the mirror node; no vote was spent.",
    RETRY_AFTER_SECONDS,
    error,
    tellWhy(error, deadlineMs),
  );
}

/** The node answered, but not as its interface promises. */
const SENSELESS: ReadonlySet<MirrorFault> = new Set([
  "status",
  "redirect",
  "too-long",
  "not-json",
  "schema",
  "link",
  "pages",
]);

/** What the voter reads: to try again, or that it will not help. */
function tellWhy(error: unknown, deadlineMs: number): string {
  const seconds = deadlineMs / 1_000;
  const fault = error instanceof MirrorError ? error.fault : "timeout";
  if (fault === "too-large") {
    return `This wallet holds more NFTs than the mirror node gives us in ${seconds} s. ${UNSPENT}`;
  }
  if (fault === "overloaded") return `Too many wallets' NFTs are being read right now. ${UNSPENT}`;
  return SENSELESS.has(fault)
    ? `The mirror node's answer about this wallet's NFTs makes no sense. ${UNSPENT}`
    : `The mirror node did not list this wallet's NFTs within ${seconds} s. ${UNSPENT}`;
}
