import type { StarReply } from "../../../../packages/client/src/index.ts";
import { nextMidnight, votesLeft } from "../words.ts";
import { now } from "./page-clock.ts";

interface Votes {
  readonly remaining: number;
  readonly limit: number;
  /** The 00:00 UTC at which there are new ones, epoch milliseconds. */
  readonly until: number;
}

/** Stars that the page shows as given, and that the service has not answered yet. */
let pending = 0;
let newest: Votes | undefined;

const places = (): NodeListOf<Element> => document.querySelectorAll("[data-votes]");

/** Takes what the service has just drawn. */
export function readVotes(): void {
  const [, remaining, limit] = /^(\d+) of (\d+) /.exec(places()[0]?.textContent ?? "") ?? [];
  if (remaining === undefined) return;
  take({ remaining: Number(remaining), limit: Number(limit), until: nextMidnight(now()) });
}

/** Shows one vote less. @returns to be called when the star is answered, accepted or not */
export function spendVote(): () => void {
  pending += 1;
  show();
  return () => {
    pending -= 1;
    show();
  };
}

/** Takes what a star's reply says. */
export function setVotes({ remaining, limit, resetsAt }: StarReply["allowance"]): void {
  take({ remaining, limit, until: Date.parse(resetsAt) });
}

/** Replies may overtake each other: of one day's replies, the one with fewer votes is the newest. */
function take(votes: Votes): void {
  const { until, limit, remaining } = votes;
  if (until <= now()) return;
  const isOlder = newest?.until === until && newest.limit === limit && newest.remaining < remaining;
  if (!isOlder) newest = votes;
  show();
}

function show(): void {
  if (newest === undefined) return;
  const { remaining, limit } = newest;
  const text = votesLeft({ remaining: Math.max(0, remaining - pending), limit });
  for (const place of places()) if (place.textContent !== text) place.textContent = text;
}

/**
 * Counters on the page, by `<type>/<id>`: when each was last set from outside, and the UTC day that it
 * is of, where that was said.
 */
const lastSet = new Map<string, { readonly at: number; readonly day: string | undefined }>();
const numbers = new Intl.NumberFormat("en");
const placesOf = (key: string): NodeListOf<Element> =>
  document.querySelectorAll(`[data-counter="${CSS.escape(key)}"]`);

/** What a counter shows; undefined where the page has none for it. */
export function counterOf(key: string): number | undefined {
  const text = placesOf(key)[0]?.textContent;
  return text == null ? undefined : Number(text.replaceAll(",", ""));
}

/** Shows a counter as the service sent it. @param day the UTC day that it is of, `2026-11-20` */
export function setCounter(key: string, value: number, day?: string): void {
  lastSet.set(key, { at: performance.now(), day });
  expectCounter(key, value);
}

/** Shows what a counter will be if all goes well. */
export function expectCounter(key: string, value: number): void {
  for (const place of placesOf(key)) place.textContent = numbers.format(value);
}

/** Whether the service sent this counter after a moment of `performance.now()`. */
export function wasSetSince(key: string, moment: number): boolean {
  return (lastSet.get(key)?.at ?? Number.NEGATIVE_INFINITY) > moment;
}

/** The UTC day that this counter is of, `2026-11-20`, where the service said it. */
export function dayOf(key: string): string | undefined {
  return lastSet.get(key)?.day;
}
