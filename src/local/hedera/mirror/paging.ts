import { parseTimestamp } from "../timestamps.ts";
import type { MirrorRequest } from "./exchange.ts";
import { lastOf } from "./parameters.ts";

/** Where the next page starts: after this value of this parameter, or at it. */
interface Cursor {
  readonly parameter: string;
  readonly value: string;
  readonly inclusive?: boolean;
}

/** After the last row's consensus. */
export const byTime = (last: { readonly consensus_timestamp: string }): readonly Cursor[] => [
  { parameter: "timestamp", value: last.consensus_timestamp },
];

const LIMIT_DEFAULT = 25;
/** More is not refused but clamped, as the real one does. */
const LIMIT_MAX = 100;

export function pageOf(request: MirrorRequest, defaultOrder: "asc" | "desc") {
  const limit = Math.min(Number(lastOf(request.query, "limit") ?? LIMIT_DEFAULT), LIMIT_MAX);
  const asked = lastOf(request.query, "order")?.toLowerCase();
  const order = asked === "asc" || asked === "desc" ? asked : defaultOrder;
  return {
    limit,
    order,
    /** The link after these rows; null when the page came back short. */
    after<Row>(rows: readonly Row[], cursors: (last: Row) => readonly Cursor[]): string | null {
      const last = rows.at(-1);
      // An exactly full last page has a next one, which is empty.
      if (last === undefined || rows.length < limit) return null;
      return nextLink(request, order === "asc" ? "gt" : "lt", cursors(last));
    },
  };
}

/**
 * The relative link to the next page: the query as it came, with the bound that the page
 * has used up replaced by where it ended. Null when nothing can follow.
 */
function nextLink(
  { path, query }: MirrorRequest,
  forward: "gt" | "lt",
  cursors: readonly Cursor[],
): string | null {
  const next = new Map(query);
  const asked = (parameter: string) => query.get(parameter) ?? [];
  // An exact value stays as it is: all that follows lies within it.
  const open = cursors.filter(({ parameter }) =>
    asked(parameter).every((text) => /^[gl]/.test(text)),
  );
  if (open.length === 0) return null;
  for (const [column, { parameter, value, inclusive = false }] of open.entries()) {
    const kept = asked(parameter).filter((text) => !text.startsWith(forward));
    const values = [...kept, `${forward}${inclusive ? "e" : ""}:${value}`];
    // Later columns begin anew within the first.
    if (column === 0 && isEmptyRange(parameter, values)) return null;
    if (kept.length === 0) next.delete(parameter);
    next.set(parameter, values);
  }
  const pairs = [...next].flatMap(([name, values]) => values.map((value) => `${name}=${value}`));
  return `${path}?${pairs.join("&")}`;
}

/** Whether bounds from both sides leave nothing between them, counted in whole units. */
function isEmptyRange(parameter: string, values: readonly string[]): boolean {
  let [lower, upper] = [0n, 2n ** 63n];
  for (const text of values) {
    const [operator = "", value = ""] = text.split(":");
    // `229` and `0.0.229` alike.
    const unit =
      parameter === "timestamp" ? parseTimestamp(value) : BigInt(value.split(".").at(-1) ?? 0);
    if (operator === "gt") lower = unit + 1n;
    if (operator === "gte") lower = unit;
    if (operator === "lt") upper = unit - 1n;
    if (operator === "lte") upper = unit;
  }
  return upper < lower;
}
