import type { Holdings } from "./holdings.ts";
import { FLAT_BONUS } from "./weight.ts";

/**
 * Which NFTs add weight: the one rule both event actors share. A serial that has already
 * counted within the scope (an event's UTC day, a forever mint) adds nothing, whoever
 * brings it; the flat bonus needs one collection B serial that has not. On forever mints a
 * serial that its wallet no longer holds stops counting, and is free again.
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

/** What a wallet turned out to hold no longer, and what it still holds; serials ascending. */
export interface Losses {
  readonly lostA: readonly number[];
  readonly lostB: readonly number[];
  /** Collection B serials it still holds: one of them may carry the flat bonus on. */
  readonly heldB: readonly number[];
}

/** Attributions that end with a loss. */
export interface Releases {
  readonly a: readonly number[];
  /** The lost carrier of the flat bonus. */
  readonly b: number | null;
  /** The serial that carries the bonus from now on; null with `b` set, and the bonus is gone. */
  readonly spare: number | null;
}

/**
 * The attributions that losses end. A serial that counted for another wallet, or for nobody,
 * is not this wallet's to lose, so the same losses a second time end nothing.
 *
 * @param counted entries for serials neither lost nor held are of no matter
 */
export function releaseLost(wallet: string, losses: Losses, counted: Counted): Releases {
  const b = losses.lostB.find((serial) => counted.B[serial] === wallet) ?? null;
  const isFree = (serial: number) =>
    counted.B[serial] === undefined && !losses.lostB.includes(serial);
  return {
    a: losses.lostA.filter((serial) => counted.A[serial] === wallet),
    b,
    // As with a star: the lowest free one is spent.
    spare: b === null ? null : (losses.heldB.find(isFree) ?? null),
  };
}

/** The weight that goes with released attributions. */
export function lostWeight({ a, b, spare }: Releases): number {
  return a.length + (b !== null && spare === null ? FLAT_BONUS : 0);
}

/** The scope after releases: their serials free, the spare counted for that wallet. */
export function withoutReleased(counted: Counted, releases: Releases, wallet: string): Counted {
  const { a, b, spare } = releases;
  const stays = (released: readonly (number | null)[]) => (entry: [string, string]) =>
    !released.includes(Number(entry[0]));
  return {
    A: Object.fromEntries(Object.entries(counted.A).filter(stays(a))),
    B: {
      ...Object.fromEntries(Object.entries(counted.B).filter(stays([b]))),
      ...(spare === null ? {} : { [spare]: wallet }),
    },
  };
}
