import type { Scope } from "../../../actors/content.ts";
import { counted } from "../../counted.ts";

/**
 * What the pages say of votes and time, for the server that draws a page first and for the scripts
 * that keep it true. Browsers load what it imports.
 */

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The first instant of the next UTC day, epoch milliseconds. */
export function nextMidnight(now: number): number {
  return (Math.floor(now / DAY_MS) + 1) * DAY_MS;
}

/** `5 hours 12 minutes`, `1 minute`, `less than a minute`. */
export function timeLeft(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / MINUTE_MS);
  if (minutes === 0) return "less than a minute";
  const hours = Math.floor(minutes / 60);
  const parts = [
    hours > 0 ? counted(hours, "hour") : "",
    minutes % 60 > 0 ? counted(minutes % 60, "minute") : "",
  ];
  return parts.filter(Boolean).join(" ");
}

/** `3 of 5 votes left` */
export function votesLeft({ remaining, limit }: { remaining: number; limit: number }): string {
  return `${remaining} of ${limit} votes left`;
}

/** What a preview says, as `GET /voting/preview` has it. */
export interface Carried {
  readonly votingPower: number;
  readonly weight: number;
  readonly breakdown: {
    readonly base: number;
    readonly collectionA: number;
    readonly collectionB: number;
  };
}

/**
 * `Would carry 11: base 1, A 5, B 5. 7 of your 12 NFTs have counted here today.`
 *
 * A preview names what would count and the whole voting power. Where base and bonus count, the rest of
 * the power is one per NFT, so the number of NFTs is known; without them the power alone is.
 *
 * @param start the first words
 */
export function wouldCarry(
  { votingPower, weight, breakdown }: Carried,
  scope: Scope,
  start = "Would carry",
): string {
  const { base, collectionA, collectionB } = breakdown;
  const sum = `${start} ${weight}: base ${base}, A ${collectionA}, B ${collectionB}.`;
  const spent = votingPower - weight;
  if (spent <= 0) return sum;
  const when = scope === "forever-mint" ? "already" : "today";
  const held = votingPower - base - collectionB;
  const before = held - collectionA;
  return base > 0 && collectionB > 0
    ? `${sum} ${before} of your ${counted(held, "NFT")} ${before === 1 ? "has" : "have"} counted here ${when}.`
    : `${sum} ${spent} of your power of ${votingPower} has counted here ${when}.`;
}

/** What stands beside an item that was starred today. It stays there: no time runs in it. */
export function carried(weight: number): string {
  return `Your star carried ${weight}. It opens again at 00:00 UTC.`;
}

/** What stands beside every item once all votes of the day are given. */
export const NO_VOTES = "No votes left today. There are votes again at 00:00 UTC.";
