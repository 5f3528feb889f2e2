import { type Day, dayOf } from "../../actors/day.ts";
import { type EventDecision, eventDay } from "../../actors/event-day.ts";
import { foreverMint, foreverMintCheck } from "../../actors/forever-mint.ts";
import type { Loss } from "../../actors/nft-accounting.ts";
import type { Bounds, Reading } from "./counters.ts";
import { noBoard, type SeasonBoard, score } from "./season-board.ts";

/** What has counted where: the totals of events, by the machines that the service decides with. */
export interface EventAccounts {
  readonly totals: Map<string, EventTotal>;
  /** By event and day; dropped with the day. */
  readonly days: Map<string, Counted>;
  readonly mints: Map<string, MintAccount>;
  readonly board: SeasonBoard;
}

export interface EventTotal {
  weight: number;
  stars: number;
  /** What the reading of the rankings may or may not have shown: added, and taken away. */
  edgeUp: number;
  edgeDown: number;
  /** Why the total is not proved, where it is not. */
  doubt: string | null;
}

interface Counted {
  readonly A: Map<number, string>;
  readonly B: Map<number, string>;
}

export interface MintAccount extends Counted {
  readonly wallets: Set<string>;
  /** The serial that carries each wallet's +5. */
  readonly carriers: Map<string, number>;
}

export interface AccountedStar {
  readonly event: string;
  readonly wallet: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly held: { readonly A: readonly number[]; readonly B: readonly number[] };
  /** Whether rankings must show it. */
  readonly isSettled: boolean;
}

export function noEventAccounts(): EventAccounts {
  return { totals: new Map(), days: new Map(), mints: new Map(), board: noBoard() };
}

/** A star of an event that is no forever mint: decides its weight and counts it. */
export function countEventStar(
  accounts: EventAccounts,
  star: AccountedStar,
  reading: Reading,
): EventDecision {
  const day = dayOf(star.at);
  const key = `${star.event}/${day}`;
  const counted = accounts.days.get(key) ?? { A: new Map(), B: new Map() };
  accounts.days.set(key, counted);
  const context = { event: star.event, day, weight: 0, stars: 0, counted: sliceOf(counted, star) };
  const [, decision] = eventDay.step({ value: "counting", context }, intent(star));
  for (const serial of decision.claims.a) counted.A.set(serial, star.wallet);
  if (decision.claims.b !== null) counted.B.set(decision.claims.b, star.wallet);
  add(accounts, star, decision.weight, reading);
  return decision;
}

/** A star of a forever mint. */
export function countMintStar(
  accounts: EventAccounts,
  star: AccountedStar,
  reading: Reading,
): EventDecision {
  const mint = mintOf(accounts, star.event);
  const slice = sliceOf(mint, star);
  const carrier = mint.carriers.get(star.wallet);
  const context = {
    event: star.event,
    weight: 0,
    stars: 0,
    wallets: mint.wallets.has(star.wallet) ? { [star.wallet]: true as const } : {},
    // The wallet's carrier counts for it whether it still holds it or not.
    counted: {
      A: slice.A,
      B: carrier === undefined ? slice.B : { ...slice.B, [carrier]: star.wallet },
    },
  };
  const [, decision] = foreverMint.step({ value: "collecting", context }, intent(star));
  mint.wallets.add(star.wallet);
  for (const serial of decision.claims.a) mint.A.set(serial, star.wallet);
  if (decision.claims.b !== null) carry(mint, decision.claims.b, star.wallet);
  add(accounts, star, decision.weight, reading);
  return decision;
}

/** Attributions that the daily check ended together. */
export interface AccountedRelease {
  readonly event: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly losses: readonly Loss[];
}

/** @returns the weight that went and, by wallet, which attributions the rules end */
export function releaseFromMint(
  accounts: EventAccounts,
  { event, at, losses }: AccountedRelease,
  reading: Reading,
) {
  const mint = mintOf(accounts, event);
  const A = losses.flatMap(({ lostA }) => lostA);
  const B = losses.flatMap(({ lostB, heldB }) => [...lostB, ...heldB]);
  const context = { event, weight: 0, stars: 0, wallets: {}, counted: pick(mint, { A, B }) };
  const lost = { type: "lost", losses } as const;
  const [, decision] = foreverMintCheck.step({ value: "collecting", context }, lost);
  for (const { wallet, a, b } of decision.releases) {
    for (const serial of a) mint.A.delete(serial);
    if (b === null) continue;
    mint.B.delete(b);
    mint.carriers.delete(wallet);
  }
  for (const { wallet, spare } of decision.releases) {
    if (spare !== null) carry(mint, spare, wallet);
  }
  const total = totalOf(accounts, event);
  if (at < reading.from) total.weight -= decision.weight;
  else if (at <= reading.until) total.edgeDown += decision.weight;
  return decision;
}

/** The total of an event as the rankings may have shown it; undefined when it has no star. */
export function boundsOfEvent(accounts: EventAccounts, event: string): Bounds | undefined {
  const total = accounts.totals.get(event);
  if (total === undefined) return undefined;
  return { low: total.weight - total.edgeDown, high: total.weight + total.edgeUp };
}

/** Forgets which NFTs counted on a day that nothing more can come for. */
export function closeEventDay(accounts: EventAccounts, day: Day): void {
  for (const key of accounts.days.keys()) if (key.endsWith(`/${day}`)) accounts.days.delete(key);
}

export function totalOf({ totals }: EventAccounts, event: string): EventTotal {
  const total = totals.get(event) ?? { weight: 0, stars: 0, edgeUp: 0, edgeDown: 0, doubt: null };
  totals.set(event, total);
  return total;
}

export function mintOf({ mints }: EventAccounts, event: string): MintAccount {
  const mint = mints.get(event) ?? {
    A: new Map(),
    B: new Map(),
    wallets: new Set<string>(),
    carriers: new Map(),
  };
  mints.set(event, mint);
  return mint;
}

function add(
  accounts: EventAccounts,
  { event, wallet, at, isSettled }: AccountedStar,
  weight: number,
  { until }: Reading,
): void {
  if (isSettled || at <= until) score(accounts.board, { wallet, at, stars: 0, weight, isSettled });
  const total = totalOf(accounts, event);
  total.stars += 1;
  if (isSettled) total.weight += weight;
  else if (at <= until) total.edgeUp += weight;
}

function carry(mint: MintAccount, serial: number, wallet: string): void {
  mint.B.set(serial, wallet);
  mint.carriers.set(wallet, serial);
}

function intent({ wallet, at, held }: AccountedStar) {
  const holdings = { collectionA: held.A, collectionB: held.B, readAt: at };
  return { type: "star", wallet, holdings } as const;
}

function sliceOf(counted: Counted, { held }: AccountedStar) {
  return pick(counted, held);
}

function pick(counted: Counted, serials: AccountedStar["held"]) {
  const of = (name: "A" | "B"): Record<number, string> => {
    const found: Record<number, string> = {};
    for (const serial of serials[name]) {
      const wallet = counted[name].get(serial);
      if (wallet !== undefined) found[serial] = wallet;
    }
    return found;
  };
  return { A: of("A"), B: of("B") };
}
