import type { LiveClaim } from "./holdings-check-claims.ts";
import {
  type Collection,
  type Doubt,
  holderOf,
  type LookAt,
  type OwnersReading,
  type Sight,
} from "./holdings-check-reading.ts";

/** Why an NFT counts no longer: as seen in the whole collection's reading and in its own. */
export interface Evidence extends Sight {
  readonly listedAt: number;
  readonly readAt: number;
}

/** What a check makes of a claim. */
export type Verdict =
  | { readonly kind: "held" }
  /** Attributed since the reading began, which therefore says nothing about it. */
  | { readonly kind: "unjudged" }
  | { readonly kind: "gone"; readonly evidence: Evidence }
  | { readonly kind: "doubtful"; readonly doubt: string };

/** What a pass knows of both collections. */
export interface Readings {
  /** Null where no NFT of the collection counts anywhere, so nobody had to ask. */
  readonly of: Readonly<Record<Collection, OwnersReading | Doubt | null>>;
  readonly lookAt: LookAt;
}

/**
 * Judges one attribution. It is gone only when a complete reading of the collection shows the
 * NFT elsewhere, or nowhere, and a later reading of the NFT alone shows the same. Two readings
 * that differ (it moves just now, or two replicas are of different age) prove nothing.
 */
export async function judgeClaim(claim: LiveClaim, readings: Readings): Promise<Verdict> {
  const { collection, serial, wallet } = claim;
  const reading = readings.of[collection];
  if (reading === null) return { kind: "unjudged" };
  if ("doubt" in reading) return { kind: "doubtful", doubt: reading.doubt };
  if (claim.since >= reading.begunAt) return { kind: "unjudged" };
  const listed = reading.seen.get(serial);
  if (listed !== undefined && holderOf(listed) === wallet) return { kind: "held" };

  const own = await readings.lookAt(collection, serial);
  if ("doubt" in own) return { kind: "doubtful", doubt: own.doubt };
  if (holderOf(own) === wallet) {
    return { kind: "doubtful", doubt: "gone in the collection's reading, held in its own" };
  }
  // Only an NFT that nobody holds may be missing from the list of those that somebody does.
  if ((listed === undefined ? null : holderOf(listed)) !== holderOf(own)) {
    return { kind: "doubtful", doubt: "its two readings name different holders" };
  }
  const { owner, deleted, readAt } = own;
  return { kind: "gone", evidence: { owner, deleted, listedAt: reading.begunAt, readAt } };
}

/**
 * The collection B serials each wallet holds by the collection's reading, ascending.
 *
 * @returns a look-up made once, on first use: most passes need none
 */
export function heldSerials(reading: OwnersReading): (wallet: string) => readonly number[] {
  let byHolder: Map<string, number[]> | undefined;
  const sort = (): Map<string, number[]> => {
    const sorted = new Map<string, number[]>();
    for (const [serial, sight] of reading.seen) {
      const holder = holderOf(sight);
      if (holder === null) continue;
      const serials = sorted.get(holder);
      if (serials === undefined) sorted.set(holder, [serial]);
      else serials.push(serial);
    }
    for (const serials of sorted.values()) serials.sort((a, b) => a - b);
    return sorted;
  };
  return (wallet) => {
    byHolder ??= sort();
    return byHolder.get(wallet) ?? [];
  };
}
