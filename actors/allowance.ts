import { type Day, endOfDay } from "./day.ts";
import { rulesOn } from "./rules.ts";

/**
 * How many votes a day holds: 5, or 20 while a pass is in force.
 *
 * @param seasonId the season of the wallet's pass that is in force; null without one
 */
export function voteLimit(day: Day, seasonId: string | null): number {
  const { freeVotes, premiumVotes } = rulesOn(day);
  return seasonId === null ? freeVotes : premiumVotes;
}

/** How many votes a day holds at most. */
export function votesMax(day: Day): number {
  const { freeVotes, premiumVotes } = rulesOn(day);
  return Math.max(freeVotes, premiumVotes);
}

/** The allowance as a voter sees it; `resetsAt` in epoch milliseconds. */
export interface Allowance {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly resetsAt: number;
}

/** "The remaining allowance and the reset time are shown to the user." */
export function allowanceOf(day: Day, limit: number, used: number): Allowance {
  // A pass that ended mid-day can leave more used than the limit now allows.
  return { limit, used, remaining: Math.max(0, limit - used), resetsAt: endOfDay(day) };
}
