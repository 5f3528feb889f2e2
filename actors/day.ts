/**
 * The UTC day: "the allowance resets at 00:00 UTC". Days are half-open, so
 * 00:00:00.000 belongs to the new one; written `YYYY-MM-DD`.
 */
export type Day = string;

export const DAY_MS = 86_400_000;

/** The day asked for last, with its first instant: nearly always the one asked for next. */
let last: { readonly day: Day; readonly start: number } = { day: "1970-01-01", start: 0 };

/** The UTC day of an instant (epoch milliseconds). */
export function dayOf(at: number): Day {
  if (at >= last.start && at < last.start + DAY_MS) return last.day;
  const start = Math.floor(at / DAY_MS) * DAY_MS;
  const day = new Date(start).toISOString().slice(0, 10);
  last = { day, start };
  return day;
}

/** The first instant of a day, epoch milliseconds. */
export function startOfDay(day: Day): number {
  return day === last.day ? last.start : Date.parse(`${day}T00:00:00.000Z`);
}

/** An instant (epoch milliseconds) as text: RFC 3339, UTC, with milliseconds. */
export function instant(at: number): string {
  return new Date(at).toISOString();
}

/** A row whose instants are text. */
type WithInstants<T> = {
  readonly [K in keyof T]: K extends `${string}At` ? string | Extract<T[K], null> : T[K];
};

/** A row as JSON shows it: every field named `…At` as text (`instant`); null stays null. */
export function withInstants<T extends object>(row: T): WithInstants<T> {
  const fields = Object.entries(row).map(([name, value]) => [
    name,
    name.endsWith("At") && value !== null ? instant(value) : value,
  ]);
  return Object.fromEntries(fields);
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
