import { type Day, dayOf } from "../../actors/day.ts";
import type { EventDecision } from "../../actors/event-day.ts";
import type { LossDecision } from "../../actors/forever-mint.ts";
import type { Claims, Loss } from "../../actors/nft-accounting.ts";
import {
  decideEventStar,
  decideLoss,
  decideMintStar,
  type EventTables,
  emptyTables,
  evolveEventDay,
  evolveMint,
} from "../../actors/whole.ts";
import type { Bounds, Reading } from "./counters.ts";
import type { HeldStar } from "./rebuild-weights.ts";
import { noBoard, type SeasonBoard, score } from "./season-board.ts";

/** The totals of events and the NFTs that counted in them, by the machines of the service. */
export interface EventAccounts {
  readonly totals: Map<string, EventTotal>;
  /** By event and day; dropped with the day. */
  readonly days: Map<string, EventTables>;
  readonly mints: Map<string, EventTables>;
  readonly board: SeasonBoard;
}

export interface EventTotal {
  weight: number;
  /** What the reading of the rankings may or may not have shown: added, and taken away. */
  edgeUp: number;
  edgeDown: number;
  /** Why the total is not proved, where it is not. */
  doubt: string | null;
}

export interface EventTurn extends HeldStar {
  readonly event: string;
  readonly isForeverMint: boolean;
  /** Its id in an export; without one, its place on the topic. */
  readonly starId: string;
  /** What an export records of it; null: as the machine decides. */
  readonly recorded: { readonly weight: number; readonly claims: Claims } | null;
}

export interface AccountedStar extends EventTurn {
  /** Whether its message was read: without one, rankings show what is not on the ledger. */
  readonly isRead: boolean;
  /** Whether rankings must show it. */
  readonly isSettled: boolean;
}

export function noEventAccounts(): EventAccounts {
  return { totals: new Map(), days: new Map(), mints: new Map(), board: noBoard() };
}

export function countEventStar(
  accounts: EventAccounts,
  star: AccountedStar,
  reading: Reading,
): EventDecision {
  const decision = takeStar(tablesOf(accounts, star), star);
  if (star.isRead) add(accounts, star, decision.weight, reading);
  return decision;
}

/** Decides a star, then takes it into its event: as it is recorded, or as decided. */
export function takeStar(tables: EventTables, star: EventTurn): EventDecision {
  const { event, isForeverMint, starId, wallet, at, held } = star;
  const key = { event, day: dayOf(at) };
  const holdings = { collectionA: held.A, collectionB: held.B, readAt: at };
  const command = { type: "star", wallet, holdings, at } as const;
  const decision = isForeverMint
    ? decideMintStar(event, tables, command)
    : decideEventStar(key, tables, command);
  const { weight, claims } = star.recorded ?? decision;
  const fact = { type: "starred", starId, wallet, at, weight, claims } as const;
  if (isForeverMint) evolveMint(event, tables, fact);
  else evolveEventDay(key, tables, fact);
  return decision;
}

/**
 * Takes attributions that ended together off a mint.
 *
 * @returns the weight that went and, by wallet, which attributions the rules end
 */
export function releaseFromMint(
  accounts: EventAccounts,
  { event, at, losses }: Pick<EventTurn, "event" | "at"> & { readonly losses: readonly Loss[] },
  reading: Reading,
): LossDecision {
  const tables = tablesOf(accounts, { event, at, isForeverMint: true });
  const decision = decideLoss(event, tables, { type: "lost", losses });
  evolveMint(event, tables, decision);
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
  const total = totals.get(event) ?? { weight: 0, edgeUp: 0, edgeDown: 0, doubt: null };
  totals.set(event, total);
  return total;
}

/** The NFTs that have counted where a star counts: on its event that day, or on its mint. */
export function tablesOf(
  { mints, days }: EventAccounts,
  { event, isForeverMint, at }: Pick<EventTurn, "event" | "isForeverMint" | "at">,
): EventTables {
  const [all, name] = isForeverMint ? [mints, event] : [days, `${event}/${dayOf(at)}`];
  const tables = all.get(name) ?? emptyTables();
  all.set(name, tables);
  return tables;
}

function add(
  accounts: EventAccounts,
  { event, wallet, at, isSettled }: AccountedStar,
  weight: number,
  reading: Reading,
): void {
  score(accounts.board, { wallet, at, stars: 0, weight, isSettled }, reading);
  const total = totalOf(accounts, event);
  if (isSettled) total.weight += weight;
  else if (at <= reading.until) total.edgeUp += weight;
}
