import type { Day } from "./day.ts";

/**
 * The numbers of the rules, by version. A version holds from 00:00 UTC of a day until the next
 * one begins, and a star is decided under the version of its own instant. Each star names its
 * version, so a recorded star is never judged by another.
 */
export interface Rules {
  readonly version: number;
  /** The first UTC day on which the version holds. */
  readonly from: Day;
  /** "Every connected wallet starts with 1." */
  readonly base: number;
  /** "+5 once, however many are held." */
  readonly flatBonus: number;
  /** "Free: 5 votes per day." */
  readonly freeVotes: number;
  /** "Premium (while active): 20." */
  readonly premiumVotes: number;
}

/** Every version, oldest first. A rule changes by adding one; an old one stays as it is. */
export const rulesVersions: readonly Rules[] = [
  { version: 1, from: "0001-01-01", base: 1, flatBonus: 5, freeVotes: 5, premiumVotes: 20 },
];

/** The newest version. */
export const RULES = 1;

/** The rules that hold on a UTC day. */
export function rulesOn(day: Day): Rules {
  for (let index = rulesVersions.length - 1; index > 0; index -= 1) {
    const rules = rulesVersions[index] as Rules;
    if (rules.from <= day) return rules;
  }
  return rulesVersions[0] as Rules;
}
