import type { Target } from "../../actors/content.ts";
import type { Day } from "../../actors/day.ts";
import type { Standing } from "../../actors/mint-wallet.ts";
import type { Attribution } from "../../actors/nft-accounting.ts";
import { foldWalletDay, type WalletDayKey, type WalletDayState } from "../../actors/wallet-day.ts";
import type { Slice, SliceKey, WalletDayFacts } from "../../src/journal/load.ts";
import type { ReturnReason } from "../../src/journal/send-batch.ts";
import { claimKeys, type DecidedStar } from "../../src/journal/star-record.ts";

/**
 * The journal as a value: accepted stars in the order of their commits, and the unique keys
 * that the migrations give the tables. It knows no rule: where two processes both decided
 * rightly, keys alone choose between them.
 */
export interface Journal {
  readonly stars: readonly DecidedStar[];
  /** Counters by target, raised by each commit; by target and day where they count today only. */
  readonly totals: Readonly<Record<string, number>>;
}

export const EMPTY_JOURNAL: Journal = { stars: [], totals: {} };

/** A kind of unique key; a journal that leaves one out must be found out. */
export type Key = "slot" | "item" | "claim" | "bonus";

export interface CommitOptions {
  /** The journal's own UTC day. */
  readonly today: Day;
  /** Of the wallet's pass in force at the star's instant; none when absent. */
  readonly seasonId?: string | null;
  readonly without?: readonly Key[];
}

/** One star, whole or not at all: what `cast_stars` does with a batch of one. */
export function commit(
  journal: Journal,
  decided: DecidedStar,
  { today, seasonId = null, without = [] }: CommitOptions,
): readonly [Journal, "stored" | ReturnReason] {
  const { star } = decided;
  if (star.day !== today) return [journal, "day"];
  if (star.seasonId !== seasonId) return [journal, "pass"];
  if (star.slot < 1 || star.slot > star.limit) throw new Error("star_within_allowance");
  const last = journal.stars.findLast(
    ({ star: other }) => other.wallet === star.wallet && other.day === star.day,
  );
  if (star.slot > 1 && decided.follows !== last?.star.id && !without.includes("slot")) {
    return [journal, "slot"];
  }
  const taken = takenKey(journal, decided, without);
  if (taken !== undefined)
    return [journal, taken === "slot" || taken === "item" ? "slot" : "claim"];
  const counter = counterKey(star.target, star.day);
  return [
    {
      stars: [...journal.stars, decided],
      totals: { ...journal.totals, [counter]: (journal.totals[counter] ?? 0) + star.weight },
    },
    "stored",
  ];
}

/** How a counter is named: events accumulate, the rest counts today only. */
export function counterKey(target: Target, day: Day): string {
  const { key, rule } = target;
  return rule.counter === "accumulates" ? key : `${key} ${day}`;
}

/** The first of a star's unique keys, in the order of the tables, that another star has. */
function takenKey(
  { stars }: Journal,
  decided: DecidedStar,
  without: readonly Key[],
): Key | undefined {
  for (const [text, kind] of keysOf(decided)) {
    if (!without.includes(kind) && stars.some((other) => keysOf(other).has(text))) return kind;
  }
  return undefined;
}

const knownKeys = new WeakMap<DecidedStar, ReadonlyMap<string, Key>>();

function keysOf(decided: DecidedStar): ReadonlyMap<string, Key> {
  const known = knownKeys.get(decided);
  if (known !== undefined) return known;
  const { wallet, day, slot, target } = decided.star;
  const item = target.key;
  const isMint = target.rule.scope === "forever-mint";
  const keys = new Map<string, Key>([[`slot ${wallet} ${day} ${slot}`, "slot"]]);
  if (!isMint) keys.set(`item ${wallet} ${day} ${item}`, "item");
  for (const claim of claimKeys(decided)) keys.set(`claim ${claim}`, "claim");
  if (isMint && decided.claims?.b != null) keys.set(`bonus ${item} ${wallet}`, "bonus");
  knownKeys.set(decided, keys);
  return keys;
}

/** The wallet-day actor as the journal has it, under the pass in force. */
export function loadWalletDay(
  journal: Journal,
  key: WalletDayKey,
  seasonId: string | null,
): WalletDayState {
  const { stars } = walletDayFacts(journal, key, seasonId);
  // Schedules share beginnings: a wallet-day is folded once for all that follow from it.
  const name = [key.wallet, key.day, seasonId, ...stars.map(({ id }) => id)].join();
  const state = folded.get(name) ?? foldWalletDay(key, stars, seasonId);
  folded.set(name, state);
  return state;
}

const folded = new Map<string, WalletDayState>();

/** A wallet's day as `loadWalletDays` selects it. */
export function walletDayFacts(
  { stars }: Journal,
  { wallet, day }: WalletDayKey,
  seasonId: string | null,
): WalletDayFacts {
  const own = stars.filter(({ star }) => star.wallet === wallet && star.day === day);
  return {
    stars: own.map(({ star: { id, at, target } }) => ({ id, at, target: target.key })),
    seasonId,
    seasonThen: seasonId,
    readAt: 0,
  };
}

/** The claims that concern a star, as the journal's `loadSlices` selects them. */
export function loadSlice({ stars }: Journal, key: SliceKey): Slice {
  const isMint = key.day === null;
  const counted = { A: {} as Record<number, Attribution>, B: {} as Record<number, Attribution> };
  let standing: Standing = "unstarred";
  for (const { star, claims } of stars) {
    const { wallet, target, day } = star;
    if (claims === null || target.id !== key.event || (!isMint && day !== key.day)) continue;
    for (const serial of claims.a) {
      if (key.serialsA.includes(serial)) counted.A[serial] = { wallet, starId: null, at: null };
    }
    if (claims.b !== null && key.serialsB.includes(claims.b)) {
      counted.B[claims.b] = { wallet, starId: null, at: null };
    }
    if (!isMint || wallet !== key.wallet) continue;
    if (claims.b !== null) standing = "carrying";
    else if (standing === "unstarred") standing = "counted";
  }
  return { counted, standing, releases: 0, ends: [] };
}

/** One day, of which the check has done every mint: no star ends what another wallet has. */
export const NOTHING_SOLD = {
  isMintChecked: async () => true,
  hasTaken: async () => true,
  claimsOn: async () => [],
};
