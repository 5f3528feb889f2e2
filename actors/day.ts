/**
 * The UTC day: "the allowance resets at 00:00 UTC". Days are half-open, so
 * 00:00:00.000 belongs to the new one; written `YYYY-MM-DD`.
 */
export type Day = string;

export const DAY_MS = 86_400_000;

/** The UTC day of an instant (epoch milliseconds). */
export function dayOf(at: number): Day {
  return new Date(Math.floor(at / DAY_MS) * DAY_MS).toISOString().slice(0, 10);
}

/** The first instant of a day, epoch milliseconds. */
export function startOfDay(day: Day): number {
  return Date.parse(`${day}T00:00:00.000Z`);
}

/** When the day's allowance and uniqueness end: the first instant of the next day. */
export function endOfDay(day: Day): number {
  return startOfDay(day) + DAY_MS;
}
