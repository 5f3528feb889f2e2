import type { Rules } from "./rules.ts";

/** What a weight is made of: the base, one per collection A NFT, the flat bonus. */
export interface Breakdown {
  readonly base: number;
  readonly collectionA: number;
  readonly collectionB: number;
}

/** "Weight = 1 + (count of collection A NFTs) + (5 if at least one collection B NFT is held, else 0)." */
export function votingPower(holdings: Holdings, rules: Rules): number {
  return weigh(fullBreakdown(holdings, rules));
}

/** The breakdown of the full voting power: what a star on an asset carries. */
export function fullBreakdown(holdings: Holdings, rules: Rules): Breakdown {
  return {
    base: rules.base,
    collectionA: holdings.collectionA.length,
    collectionB: holdings.collectionB.length > 0 ? rules.flatBonus : 0,
  };
}

/** The weight a breakdown adds up to. */
export function weigh(breakdown: Breakdown): number {
  return breakdown.base + breakdown.collectionA + breakdown.collectionB;
}

/**
 * The NFTs of the two collections a wallet held when the mirror node was read.
 * Serials are ascending and distinct; they, and not their count alone, decide
 * the weight of an event star.
 */
export interface Holdings {
  readonly collectionA: readonly number[];
  readonly collectionB: readonly number[];
  /** When the reading began, epoch milliseconds. */
  readonly readAt: number;
}
