import { type Day, endOfDay } from "./day.ts";

/** "Free: 5 votes per day. Premium (while active): 20." */
export const FREE_LIMIT = 5;
export const PREMIUM_LIMIT = 20;

/** A paid pass for one season: half-open, epoch milliseconds. */
export interface PremiumPass {
  readonly seasonId: string;
  readonly startsAt: number;
  readonly endsAt: number;
}

/** How many votes a day holds at an instant, and the season that says so. */
export interface Limit {
  readonly limit: typeof FREE_LIMIT | typeof PREMIUM_LIMIT;
  readonly seasonId: string | null;
}

/** The limit at one instant: "its extra votes stop when that season ends", even mid-day. */
export function limitAt(at: number, passes: readonly PremiumPass[]): Limit {
  const pass = passes.find(({ startsAt, endsAt }) => startsAt <= at && at < endsAt);
  return pass === undefined
    ? { limit: FREE_LIMIT, seasonId: null }
    : { limit: PREMIUM_LIMIT, seasonId: pass.seasonId };
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
