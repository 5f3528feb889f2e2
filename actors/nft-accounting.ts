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
export interface Loss {
  readonly wallet: string;
  readonly lostA: readonly number[];
  readonly lostB: readonly number[];
  /** Collection B serials it still holds: one of them may carry the flat bonus on. */
  readonly heldB: readonly number[];
}

/** Attributions of a wallet that end with a loss. */
export interface Release {
  readonly wallet: string;
  readonly a: readonly number[];
  /** The lost carrier of the flat bonus. */
  readonly b: number | null;
  /** The serial that carries the bonus from now on; null with `b` set: the bonus is gone. */
  readonly spare: number | null;
}

/**
 * The attributions that losses end, one release per loss. First all that is lost becomes free,
 * then spares are chosen: two wallets that swapped their carriers both keep the bonus. A serial
 * that counted for another wallet, or for nobody, is not this wallet's to lose, so the same
 * losses a second time end nothing.
 *
 * @param counted entries for serials neither lost nor held are of no matter
 */
export function releaseLost(losses: readonly Loss[], counted: Counted): readonly Release[] {
  const ended = losses.map(({ wallet, lostA, lostB }) => ({
    wallet,
    a: lostA.filter((serial) => counted.A[serial] === wallet),
    b: lostB.find((serial) => counted.B[serial] === wallet) ?? null,
  }));
  const freed = new Set(ended.map(({ b }) => b));
  const taken = new Set<number>();
  return ended.map((end, index) => {
    const held = end.b === null ? [] : (losses[index]?.heldB ?? []);
    // As with a star: the lowest free one is spent.
    const spare =
      held.find(
        (serial) =>
          serial !== end.b &&
          !taken.has(serial) &&
          (counted.B[serial] === undefined || freed.has(serial)),
      ) ?? null;
    if (spare !== null) taken.add(spare);
    return { ...end, spare };
  });
}

/** The weight that goes with released attributions. */
export function lostWeight(releases: readonly Release[]): number {
  const weights = releases.map(
    ({ a, b, spare }) => a.length + (b !== null && spare === null ? FLAT_BONUS : 0),
  );
  return weights.reduce((sum, weight) => sum + weight, 0);
}

/** The scope after releases: their serials free, the spares counted for their wallets. */
export function withoutReleased(counted: Counted, releases: readonly Release[]): Counted {
  const goneA = new Set(releases.flatMap(({ a }) => a));
  const goneB = new Set(releases.flatMap(({ b }) => b ?? []));
  const spares = releases.flatMap(({ wallet, spare }) =>
    spare === null ? [] : [[spare, wallet] as const],
  );
  return {
    A: without(counted.A, goneA),
    B: { ...without(counted.B, goneB), ...Object.fromEntries(spares) },
  };
}

function without(
  counted: Readonly<Record<number, string>>,
  gone: ReadonlySet<number>,
): Readonly<Record<number, string>> {
  return Object.fromEntries(
    Object.entries(counted).filter(([serial]) => !gone.has(Number(serial))),
  );
}
