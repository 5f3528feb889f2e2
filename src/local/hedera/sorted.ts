/** A whole number that a list is sorted by; both kinds compare with each other. */
export type Sortable = number | bigint;

/** What a value must be, compared with `value`. */
export interface Bound {
  readonly operator: "eq" | "lt" | "lte" | "gt" | "gte";
  readonly value: Sortable;
}

/** A column by which the rows ascend, and what is asked of it. */
export interface Bounded<Row> {
  readonly of: (row: Row) => Sortable;
  readonly bounds: readonly Bound[];
}

/** Which of the rows found are wanted: the first so many, from the one end or the other. */
export interface Slice {
  readonly limit: number;
  readonly order: "asc" | "desc";
}

/** Index of the first row that passes; every later one passes too. */
export function firstIndex<Row>(rows: readonly Row[], passes: (row: Row) => boolean): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (passes(rows[middle] as Row)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Whether a value that may be missing is within all bounds; any is where there are none. */
export function isWithin(value: Sortable | null | undefined, bounds: readonly Bound[]): boolean {
  if (value == null || bounds.length === 0) return bounds.length === 0;
  return pick([value], { limit: 1, order: "asc" }, [{ of: () => value, bounds }]).length > 0;
}

/**
 * The rows within all bounds, found by binary search.
 *
 * @param rows ascending by every column of `columns`
 * @param isWanted looked at row by row, after the bounds
 */
export function pick<Row>(
  rows: readonly Row[],
  { limit, order }: Slice,
  columns: readonly Bounded<Row>[],
  isWanted: (row: Row) => boolean = () => true,
): Row[] {
  let [from, end] = [0, rows.length];
  for (const { of, bounds } of columns) {
    for (const { operator, value } of bounds) {
      const reached = () => firstIndex(rows, (row) => of(row) >= value);
      const passed = () => firstIndex(rows, (row) => of(row) > value);
      if (operator === "gte" || operator === "eq") from = Math.max(from, reached());
      if (operator === "gt") from = Math.max(from, passed());
      if (operator === "lte" || operator === "eq") end = Math.min(end, passed());
      if (operator === "lt") end = Math.min(end, reached());
    }
  }
  const found: Row[] = [];
  const [start, step] = order === "asc" ? [from, 1] : [end - 1, -1];
  for (let at = start; at >= from && at < end && found.length < limit; at += step) {
    const row = rows[at] as Row;
    if (isWanted(row)) found.push(row);
  }
  return found;
}
