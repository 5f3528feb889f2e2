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

/** Whether the text is a real date from year 1 to 9999, `YYYY-MM-DD`: what the journal can hold. */
export function isDay(text: string): text is Day {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text.startsWith("0000")) return false;
  const at = startOfDay(text);
  return Number.isFinite(at) && dayOf(at) === text;
}

/** When the day's allowance and uniqueness end: the first instant of the next day. */
export function endOfDay(day: Day): number {
  return startOfDay(day) + DAY_MS;
}
