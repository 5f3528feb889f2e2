import { parseTimestamp } from "../timestamps.ts";
import type { Order, Query } from "./parameters.ts";

/** Where the next page starts: after this value of this parameter, or at it. */
export interface Cursor {
  readonly parameter: string;
  readonly value: string;
  readonly inclusive?: boolean;
}

/** After the last row's consensus. */
export const byTime = (last: { readonly consensus_timestamp: string }): readonly Cursor[] => [
  { parameter: "timestamp", value: last.consensus_timestamp },
];

/** A request for a list, as far as its `links.next` repeats it. */
interface Listing {
  readonly path: string;
  readonly query: Query;
  readonly order: Order;
}

/**
 * The relative link to the next page: the query as it came, with the bound that the page
 * has used up replaced by where it ended. Null when nothing can follow.
 */
export function nextLink(listing: Listing, cursors: readonly Cursor[]): string | null {
  const forward = listing.order === "asc" ? "gt" : "lt";
  const usedUp = new RegExp(`^${forward}e?:`);
  const query = new Map([...listing.query].map(([name, values]) => [name, [...values]]));
  for (const { parameter, value, inclusive = false } of cursors) {
    const bound = `${forward}${inclusive ? "e" : ""}:${value}`;
    const before = query.get(parameter) ?? [];
    const kept = before.filter((text) => !usedUp.test(text));
    const ranged = before.length === 0 || before.some((text) => /^[gl]te?:/.test(text));
    // An exact value stays as it is: all that follows lies within it.
    if (!ranged) continue;
    if (kept.length === 0) query.delete(parameter);
    query.set(parameter, [...kept, bound]);
  }
  const [first] = cursors;
  if (first !== undefined && isEmptyRange(first.parameter, query.get(first.parameter) ?? [])) {
    return null;
  }
  const pairs = [...query].flatMap(([name, values]) => values.map((value) => `${name}=${value}`));
  return `${listing.path}?${pairs.join("&")}`;
}

/** Whether bounds from both sides leave nothing between them, counted in whole units. */
function isEmptyRange(parameter: string, values: readonly string[]): boolean {
  const unit = (text: string): bigint =>
    // `229` and `0.0.229` alike.
    parameter === "timestamp" ? parseTimestamp(text) : BigInt(text.split(".").at(-1) ?? 0);
  let lower: bigint | undefined;
  let upper: bigint | undefined;
  for (const text of values) {
    const [operator = "", value = ""] = text.split(":");
    if (operator === "gt") lower = unit(value) + 1n;
    if (operator === "gte") lower = unit(value);
    if (operator === "lt") upper = unit(value) - 1n;
    if (operator === "lte") upper = unit(value);
  }
  return lower !== undefined && upper !== undefined && upper < lower;
}
