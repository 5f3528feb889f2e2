import { dayOf } from "../../actors/day.ts";
import { rulesOn } from "../../actors/rules.ts";
import type { StarMessage } from "../publishing/message.ts";
import { boundsText } from "./counters.ts";
import {
  type HeldSerials,
  heldAt,
  heldBetween,
  type Ownership,
  type Ownerships,
} from "./ownership.ts";
import type { Mismatch, Place, Verdict } from "./report.ts";

/**
 * A star's holdings were read at most this long before its instant, or were that far behind: a
 * star waits 3 s for them, mirror nodes are documented 5 to 15 s behind and replicas more. What
 * was true at no instant of this is refuted.
 */
export const LAG_MS = 60_000;
/** The clock that dates stars and the ledger's may differ by this. */
export const LEAD_MS = 5_000;

/** How stars' holdings stood to the ownership of their instant. */
export interface Margins {
  /** Held at the star's own instant. */
  exact: number;
  /** Held within the minute before it (or the 5 s after), not at the instant itself. */
  needed: number;
}

export type AssetStar = StarMessage & { readonly type: "asset_vote" };

/** "Weight = 1 + (count of collection A NFTs) + (5 if at least one collection B NFT is held, else 0)." */
export function judgeVotingPower(star: AssetStar, place: Place): readonly Mismatch[] {
  const { collectionA, collectionB } = star.holdings;
  const { base, flatBonus } = rulesOn(dayOf(star.timestamp));
  const expected = base + collectionA + (collectionB > 0 ? flatBonus : 0);
  if (star.votingPower === expected) return [];
  return [{ ...place, kind: "voting-power", expected, found: star.votingPower }];
}

/**
 * Whether a wallet can have been seen to hold so many of each collection. The reading of many
 * pages is no snapshot, so any count between what it held throughout the time and what it held at
 * some instant of it can have been seen.
 */
export function judgeCounts(
  star: AssetStar,
  {
    ownerships,
    mayBeExcluded,
    place,
  }: { ownerships: Ownerships; mayBeExcluded: boolean; place: Place },
  margins: Margins,
): Verdict {
  const { holdings, wallet, timestamp: at } = star;
  const { collectionA, collectionB } = holdings;
  const given = { A: collectionA, B: collectionB };
  // Only a day's export names the wallets excluded on it: then they are judged once more.
  const isNothing = mayBeExcluded && collectionA + collectionB === 0;
  const wrong: string[] = [];
  const seen: string[] = [];
  let isExact = true;
  for (const name of ["A", "B"] as const) {
    const { low, high, now } = isNothing
      ? { low: 0, high: 0, now: 0 }
      : countsAround(ownerships[name], wallet, at);
    isExact &&= given[name] === now;
    if (given[name] >= low && given[name] <= high) continue;
    wrong.push(`${name} ${boundsText({ low, high })}`);
    seen.push(`${name} ${given[name]}`);
  }
  if (wrong.length === 0) {
    margins[isExact ? "exact" : "needed"] += 1;
    return { mismatches: [] };
  }
  if (ownerships.A.isPartial || ownerships.B.isPartial) return { mismatches: [], unprovable };
  const expected = wrong.join(", ");
  return { mismatches: [{ ...place, kind: "holdings", expected, found: seen.join(", ") }] };
}

const unprovable =
  "holdings of some stars: the mirror node does not know the whole history of some NFTs";

/** What a wallet held while its holdings may have been read for a star of an instant. */
export function heldAround(ownership: Ownership, wallet: string, at: number): HeldSerials {
  return heldBetween(ownership, wallet, { from: at - LAG_MS, to: at + LEAD_MS });
}

function countsAround(ownership: Ownership, wallet: string, at: number) {
  const { always, ever } = heldAround(ownership, wallet, at);
  return { low: always.length, high: ever.length, now: heldAt(ownership, wallet, at).length };
}

export interface HeldStar {
  readonly wallet: string;
  readonly at: number;
  readonly held: { readonly A: readonly number[]; readonly B: readonly number[] };
}

/**
 * Whether a star's holdings were left unread because its wallet is excluded. A setting that changed on the
 * star's day was the one or the other when the wallet starred: the star itself shows which.
 *
 * @param lists of the star's day, and of the day before where that is known
 */
export function wasExcluded(
  { wallet, held }: HeldStar,
  lists: { readonly own: readonly string[]; readonly before: readonly string[] | undefined },
): boolean {
  const isListed = lists.own.includes(wallet);
  const isChanged = lists.before !== undefined && isListed !== lists.before.includes(wallet);
  return isChanged ? held.A.length + held.B.length === 0 : isListed;
}

/** The same, serial by serial: none that the wallet never held, all that it held throughout. */
export function judgeSerials(
  star: HeldStar,
  {
    ownerships,
    isExcluded,
    place,
  }: { ownerships: Ownerships; isExcluded: boolean; place: Omit<Mismatch, Finding> },
): Verdict {
  const { wallet, at, held } = star;
  const wrong: Mismatch[] = [];
  for (const name of ["A", "B"] as const) {
    const { always, ever } = isExcluded
      ? { always: [], ever: [] }
      : heldAround(ownerships[name], wallet, at);
    const could = new Set(ever);
    const listed = new Set(held[name]);
    const extra = held[name].filter((serial) => !could.has(serial));
    const missing = always.filter((serial) => !listed.has(serial));
    if (extra.length + missing.length === 0) continue;
    const found = list(name, held[name]);
    wrong.push({ ...place, kind: "holdings", expected: list(name, always), found });
  }
  if (wrong.length > 0 && (ownerships.A.isPartial || ownerships.B.isPartial)) {
    return { mismatches: [], unprovable };
  }
  return { mismatches: wrong };
}

type Finding = "kind" | "expected" | "found";

/** Serials shown of a list; a wallet may hold thousands. */
const SHOWN_MAX = 50;

function list(name: string, serials: readonly number[]): string {
  const shown = serials.slice(0, SHOWN_MAX).join(" ");
  return `${name} [${shown}${serials.length > SHOWN_MAX ? ` … ${serials.length} in all` : ""}]`;
}

/** Serials that a wallet had when it starred, as far as the NFTs' histories show. */
export interface HeldThen {
  readonly A: readonly number[];
  readonly B: readonly number[];
  /** Whether nothing else can have been read. */
  readonly isCertain: boolean;
}

/**
 * What a wallet held at an event star's instant. That is beyond doubt where nothing of it moved in the
 * time in which it may have been read.
 */
export function heldAtEventStar(
  { wallet, at }: { readonly wallet: string; readonly at: number },
  ownerships: Ownerships,
  excluded: ReadonlySet<string>,
): HeldThen {
  if (excluded.has(wallet)) return { A: [], B: [], isCertain: true };
  const isCertain = [ownerships.A, ownerships.B].every((ownership) => {
    const { always, ever } = heldAround(ownership, wallet, at);
    return !ownership.isPartial && always.length === ever.length;
  });
  const [A, B] = [heldAt(ownerships.A, wallet, at), heldAt(ownerships.B, wallet, at)];
  return { A, B, isCertain };
}
