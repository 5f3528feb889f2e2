import { DAY_MS } from "../../actors/day.ts";

/**
 * Weights by item and hour, as published: what the rankings of tokens, collections and projects
 * must show. Plain data. Hours older than the longest window are dropped, so its size depends on
 * the items that are starred, not on the number of stars.
 */
export interface Counters {
  /** `type/id` → hour since 1970 → weight. */
  readonly hours: Map<string, Map<number, number>>;
  /** Stars that the rankings may not have shown when they were read, in no order. */
  recent: DatedWeight[];
  newestHour: number;
}

export interface DatedWeight {
  readonly item: string;
  readonly at: number;
  readonly weight: number;
}

/**
 * When the rankings were read. What stood on the topics before that was stored before that, so
 * rankings must show it, without regard to clocks; what came later they may show, if it was cast
 * by then. Clocks only say in which day and hour it was.
 */
export interface Reading {
  /** Epoch milliseconds, with all doubt about the clocks between them. */
  readonly from: number;
  readonly until: number;
  /** Last sequence number of each topic before the reading; null: nothing was read. */
  readonly ends: ReadonlyMap<string, number> | null;
}

/** Whether rankings must show the star of this message. */
export function isSettled({ ends }: Reading, topic: string, sequenceNumber: number): boolean {
  return ends === null || sequenceNumber <= (ends.get(topic) ?? 0);
}

/** A counter as it may have been at some instant of the reading. */
export interface Bounds {
  readonly low: number;
  readonly high: number;
}

/** One published number beside what the records give. */
export interface ShownCounter {
  /** Which one, as mismatches say it. */
  readonly where: string;
  readonly expected: Bounds;
  readonly found: number;
}

export function isWithin({ expected, found }: ShownCounter): boolean {
  return found >= expected.low && found <= expected.high;
}

/** As mismatches say it. */
export function boundsText({ low, high }: Bounds): string | number {
  return low === high ? low : `${low} to ${high}`;
}

const HOUR_MS = 3_600_000;
/** 30 days and the hour under way, and a day for an audit that resumes. */
const HOURS_KEPT = 32 * 24;

export function noCounters(): Counters {
  return { hours: new Map(), recent: [], newestHour: 0 };
}

export function countWeight(
  counters: Counters,
  star: DatedWeight,
  { isSettled: settled, until }: { readonly isSettled: boolean } & Pick<Reading, "until">,
): void {
  if (settled) addToHour(counters, star, until);
  else counters.recent.push(star);
}

/** What came after an earlier reading stood on the topics before any later one. */
export function settleRecent(counters: Counters, { until }: Pick<Reading, "until">): void {
  for (const star of counters.recent) addToHour(counters, star, until);
  counters.recent = [];
}

function addToHour(counters: Counters, { item, at, weight }: DatedWeight, until: number): void {
  const hour = Math.floor(at / HOUR_MS);
  const hours = counters.hours.get(item) ?? new Map<number, number>();
  counters.hours.set(item, hours);
  hours.set(hour, (hours.get(hour) ?? 0) + weight);
  // A star that is dated ahead moves no window.
  const newest = Math.min(hour, Math.floor(until / HOUR_MS));
  if (newest <= counters.newestHour) return;
  counters.newestHour = newest;
  // Once per hour of history, over all items: what no window can reach any more.
  for (const [name, each] of counters.hours) {
    for (const old of each.keys()) if (old < newest - HOURS_KEPT) each.delete(old);
    if (each.size === 0) counters.hours.delete(name);
  }
}

/** The three counters of an item (contract, section 2), for every item that has a star. */
export type ItemBounds = Readonly<Record<"totalVotes" | "votes7d" | "votes30d", Bounds>>;

/**
 * What an item's counters may have been at the reading: `totalVotes` from 00:00 UTC, `votes7d`
 * and `votes30d` from the full UTC hour 7 × 24 (30 × 24) hours before, until then.
 */
export function countersOf(counters: Counters, item: string, reading: Reading): ItemBounds {
  const since = (startOf: (at: number) => number): Bounds => {
    const sums = [reading.from, reading.until].map((at) =>
      boundsFrom(counters, { item, start: startOf(at), reading }),
    );
    return {
      low: Math.min(...sums.map(({ low }) => low)),
      high: Math.max(...sums.map(({ high }) => high)),
    };
  };
  return {
    totalVotes: since((at) => Math.floor(at / DAY_MS) * DAY_MS),
    votes7d: since((at) => windowStart(at, 7)),
    votes30d: since((at) => windowStart(at, 30)),
  };
}

function boundsFrom(
  counters: Counters,
  { item, start, reading }: { item: string; start: number; reading: Reading },
): Bounds {
  let low = 0;
  // Windows begin with a full hour, days too.
  for (const [hour, weight] of counters.hours.get(item) ?? []) {
    if (hour >= start / HOUR_MS) low += weight;
  }
  let high = low;
  for (const star of counters.recent) {
    if (star.item === item && star.at >= start && star.at <= reading.until) high += star.weight;
  }
  return { low, high };
}

function windowStart(at: number, days: number): number {
  return (Math.floor(at / HOUR_MS) - days * 24) * HOUR_MS;
}
