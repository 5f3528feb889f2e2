import type { Holdings } from "./holdings.ts";
import { FLAT_BONUS } from "./weight.ts";

/**
 * Which NFTs add weight: the one rule both event actors share. A serial that has already
 * counted within the scope (an event's UTC day, a forever mint) adds nothing, whoever
 * brings it; the flat bonus needs one collection B serial that has not.
 */

/** Serials that have counted within a scope, each with the wallet it counted for. */
export interface Counted {
  readonly A: Readonly<Record<number, string>>;
  readonly B: Readonly<Record<number, string>>;
}

export const NOTHING_COUNTED: Counted = { A: {}, B: {} };

/** What one star newly counts: `b` is the serial spent on the flat bonus. */
export interface Claims {
  readonly a: readonly number[];
  readonly b: number | null;
}

/**
 * The serials of a wallet that add weight now.
 *
 * @param holdings what the wallet holds, serials ascending
 * @param counted what has counted; entries for serials not held are of no matter, so a slice
 *   with the held ones alone gives the same answer
 */
export function countFresh(holdings: Holdings, counted: Counted): Claims {
  return {
    a: holdings.collectionA.filter((serial) => counted.A[serial] === undefined),
    // "The lowest free one is spent."
    b: holdings.collectionB.find((serial) => counted.B[serial] === undefined) ?? null,
  };
}

/** The weight of the claimed NFTs, without a base. */
export function bonusOf(claims: Claims): 0 | 5 {
  return claims.b === null ? 0 : FLAT_BONUS;
}

/** The scope after a star: its claims counted for that wallet. */
export function withClaims(counted: Counted, claims: Claims, wallet: string): Counted {
  return {
    A: { ...counted.A, ...Object.fromEntries(claims.a.map((serial) => [serial, wallet])) },
    B: claims.b === null ? counted.B : { ...counted.B, [claims.b]: wallet },
  };
}
