import { dayOf } from "./day.ts";
import { rulesOn } from "./rules.ts";
import type { Holdings } from "./weight.ts";

/**
 * Which NFTs add weight: the one rule both event actors share. A serial that has already
 * counted within the scope (an event's UTC day, a forever mint) adds nothing, whichever wallet
 * brings it; the flat bonus needs one collection B serial that has not. On forever mints a
 * serial that its wallet no longer holds stops counting, and is free again.
 */

/** To whom a counted NFT is attributed, and by which star it came. */
export interface Attribution {
  readonly wallet: string;
  /** Null in a slice that was read to decide a star: only who holds it matters there. */
  readonly starId: string | null;
  /** The star's instant, epoch ms: the NFT weighs what it weighed then. Null as above. */
  readonly at: number | null;
}

/** Serials that have counted within a scope. */
export interface Counted {
  readonly A: Readonly<Record<number, Attribution>>;
  readonly B: Readonly<Record<number, Attribution>>;
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
 * @param counted what has counted; entries for serials not held do not matter, so a slice
 *   with the held ones alone gives the same answer
 */
export function countFresh(holdings: Holdings, counted: Counted): Claims {
  return {
    a: holdings.collectionA.filter((serial) => counted.A[serial] === undefined),
    // "The lowest free one is spent."
    b: holdings.collectionB.find((serial) => counted.B[serial] === undefined) ?? null,
  };
}

/** The scope after a star: its claims are attributed to its wallet. */
export function withClaims({ A, B }: Counted, { a, b }: Claims, attribution: Attribution): Counted {
  return {
    A:
      a.length === 0
        ? A
        : { ...A, ...Object.fromEntries(a.map((serial) => [serial, attribution])) },
    B: b === null ? B : { ...B, [b]: attribution },
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
 * that counted for another wallet, or for none, is passed over, so the same losses a second time
 * end nothing.
 *
 * @param counted entries for serials that are not lost and not held do not matter
 */
export function releaseLost(losses: readonly Loss[], counted: Counted): readonly Release[] {
  const ended = losses.map(({ wallet, lostA, lostB }) => ({
    wallet,
    a: lostA.filter((serial) => counted.A[serial]?.wallet === wallet),
    b: lostB.find((serial) => counted.B[serial]?.wallet === wallet) ?? null,
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

/**
 * The weight that goes with released attributions: what their stars had added, under the rules of
 * those stars' days.
 *
 * @param carrierOf who counts a collection B serial before the release
 */
export function lostWeight(
  releases: readonly Release[],
  carrierOf: (serial: number) => Attribution | undefined,
): number {
  const weights = releases.map(
    ({ a, b, spare }) => a.length + (b !== null && spare === null ? bonusOf(carrierOf(b)) : 0),
  );
  return weights.reduce((sum, weight) => sum + weight, 0);
}

function bonusOf(carrier: Attribution | undefined): number {
  if (carrier === undefined || carrier.at === null) {
    throw new RangeError("the star that brought a lost bonus is not known");
  }
  return rulesOn(dayOf(carrier.at)).flatBonus;
}

/** The scope after releases: their serials free, the spares counted by the star of the carrier. */
export function withoutReleased({ A, B }: Counted, releases: readonly Release[]): Counted {
  const spares = releases.flatMap(({ b, spare }) => {
    const carrier = b === null ? undefined : B[b];
    return spare === null || carrier === undefined ? [] : [[spare, carrier] as const];
  });
  const freedB = releases.flatMap(({ b }) => b ?? []);
  return {
    A: without(
      A,
      releases.flatMap(({ a }) => a),
    ),
    B: { ...without(B, freedB), ...Object.fromEntries(spares) },
  };
}

function without(counted: Counted["A"], gone: readonly number[]): Counted["A"] {
  const left = { ...counted };
  for (const serial of gone) delete left[serial];
  return left;
}
