/** What a paged list says beside its records; past the end it is empty and has no more. */
export function pageOf(
  { limit, offset }: { readonly limit: number; readonly offset: number },
  records: readonly unknown[],
  total: number,
) {
  return { total, hasMore: offset + records.length < total, limit, offset };
}

/** The order is total, so a rank is a position and nothing shares one. */
export function ranked<T extends object>(rows: readonly T[]): ({ rank: number } & T)[] {
  return rows.map((row, index) => ({ rank: index + 1, ...row }));
}

const HOUR_MS = 3_600_000;

/** When the windows of 7 and 30 days, and at midnight the day, move on by the clock alone. */
export function nextHour(now: number): number {
  return (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;
}
