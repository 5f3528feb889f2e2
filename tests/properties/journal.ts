import { ruleOf, type Target } from "../../actors/content.ts";
import type { Day } from "../../actors/day.ts";
import { targetKey } from "../../actors/star.ts";
import { foldWalletDay, type HostedWalletDay } from "../../src/hosting/host.ts";
import type { Slice, SliceKey, WalletDayFacts, WalletDayKey } from "../../src/journal/load.ts";
import type { CommitOutcome } from "../../src/journal/send-batch.ts";
import type { DecidedStar } from "../../src/journal/star-record.ts";
import { claimKeys } from "../../src/journal/star-rows.ts";

/**
 * The journal as a value: accepted stars in the order of their commits, and the unique keys
 * that the migrations give the tables. It knows no rule; two processes that both decided
 * rightly are told apart by keys alone.
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
  readonly without?: readonly Key[];
}

/** One star, whole or not at all: what `cast_stars` does with a batch of one. */
export function commit(
  journal: Journal,
  decided: DecidedStar,
  { today, without = [] }: CommitOptions,
): readonly [Journal, CommitOutcome["kind"]] {
  const { star } = decided;
  if (star.day !== today) return [journal, "wrong-day"];
  if (star.slot < 1 || star.slot > star.limit) throw new Error("star_within_allowance");
  const taken = takenKey(journal, decided, without);
  if (taken !== undefined)
    return [journal, taken === "slot" || taken === "item" ? "stale" : "lost"];
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
  const key = targetKey(target.type, target.id);
  return ruleOf(target).counter === "accumulates" ? key : `${key} ${day}`;
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
  const rule = ruleOf(target);
  const item = targetKey(target.type, target.id);
  const isMint = rule.weight === "each NFT once per mint";
  const keys = new Map<string, Key>([[`slot ${wallet} ${day} ${slot}`, "slot"]]);
  if (rule.frequency === "daily") keys.set(`item ${wallet} ${day} ${item}`, "item");
  for (const claim of claimKeys(decided)) keys.set(`claim ${claim}`, "claim");
  if (isMint && decided.claims?.b != null) keys.set(`bonus ${item} ${wallet}`, "bonus");
  knownKeys.set(decided, keys);
  return keys;
}

/** The wallet-day actor as the journal has it, folded by the host. */
export function loadWalletDay(
  journal: Journal,
  key: WalletDayKey,
  passes: WalletDayFacts["passes"],
): HostedWalletDay {
  const facts = walletDayFacts(journal, key, passes);
  // Schedules share beginnings: a wallet-day is folded once for all that follow from it.
  const name = [key.wallet, key.day, ...facts.stars.map(({ id }) => id)].join();
  const state = folded.get(name) ?? foldWalletDay(key, facts);
  folded.set(name, state);
  return { state, passes };
}

const folded = new Map<string, HostedWalletDay["state"]>();

/** A wallet's day as `loadWalletDays` selects it. */
export function walletDayFacts(
  { stars }: Journal,
  { wallet, day }: WalletDayKey,
  passes: WalletDayFacts["passes"],
): WalletDayFacts {
  const own = stars.filter(({ star }) => star.wallet === wallet && star.day === day);
  const rows = own.map(({ star: { id, at, limit, target } }) => {
    const repeatable = ruleOf(target).frequency === "once";
    return { id, at, limit, target: targetKey(target.type, target.id), repeatable };
  });
  return { stars: rows, passes };
}

/** The claims that concern a star, as the journal's `loadSlices` selects them. */
export function loadSlice({ stars }: Journal, key: SliceKey): Slice {
  const isMint = key.day === null;
  const counted = { A: {} as Record<number, string>, B: {} as Record<number, string> };
  let baseCounted = false;
  for (const { star, claims } of stars) {
    const { wallet, target, day } = star;
    if (claims === null || target.id !== key.event || (!isMint && day !== key.day)) continue;
    for (const serial of claims.a) {
      if (key.serialsA.includes(serial)) counted.A[serial] = wallet;
    }
    const isOwn = isMint && wallet === key.wallet;
    if (claims.b !== null && (isOwn || key.serialsB.includes(claims.b))) {
      counted.B[claims.b] = wallet;
    }
    if (isOwn) baseCounted = true;
  }
  return { counted, baseCounted };
}
