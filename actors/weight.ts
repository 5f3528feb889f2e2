import type { Holdings } from "./holdings.ts";

/** "+5 once, however many are held." */
export const FLAT_BONUS = 5;
/** "Every connected wallet starts with 1." */
export const BASE = 1;

/** What a weight is made of: the base, one per collection A NFT, the flat bonus. */
export interface Breakdown {
  readonly base: 0 | 1;
  readonly collectionA: number;
  readonly collectionB: 0 | 5;
}

/** "Weight = 1 + (count of collection A NFTs) + (5 if at least one collection B NFT is held, else 0)." */
export function votingPower(holdings: Holdings): number {
  return weigh(fullBreakdown(holdings));
}

/** The breakdown of the full voting power: what a star on an asset carries. */
export function fullBreakdown(holdings: Holdings): Breakdown {
  return {
    base: BASE,
    collectionA: holdings.collectionA.length,
    collectionB: holdings.collectionB.length > 0 ? FLAT_BONUS : 0,
  };
}

/** The weight a breakdown adds up to. */
export function weigh(breakdown: Breakdown): number {
  return breakdown.base + breakdown.collectionA + breakdown.collectionB;
}
