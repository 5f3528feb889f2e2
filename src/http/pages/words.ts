/**
 * What the pages say of votes and time, for the server that draws a page first and for the scripts
 * that keep it true. It stands on nothing.
 */

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The first instant of the next UTC day, epoch milliseconds. */
export function nextMidnight(now: number): number {
  return (Math.floor(now / DAY_MS) + 1) * DAY_MS;
}

const counted = (count: number, word: string): string =>
  `${count} ${word}${count === 1 ? "" : "s"}`;

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

/** Whether NFTs count until midnight, or as long as the wallet holds them. */
export type Scope = "none" | "event-day" | "forever-mint";

/** What stands beside an item that was starred today. */
export function carried(weight: number, now: number): string {
  return `Your star carried ${weight}. Opens again in ${timeLeft(nextMidnight(now) - now)}, at 00:00 UTC.`;
}
