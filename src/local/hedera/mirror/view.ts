import { formatTimestamp } from "../../../ledger/transaction-id.ts";
import type { Bound } from "../sorted.ts";
import type { State, Versions } from "../state/state.ts";
import { type Nanos, parseTimestamp } from "../timestamps.ts";
import { filtersOf, type Query } from "./parameters.ts";

/** The ledger as one request sees it: up to an instant, and no further. */
export interface View {
  readonly state: State;
  readonly asOf: Nanos;
  /** When the mirror node began: what was there before, it has not seen come. */
  readonly since: Nanos;
}

/** Sees everything. */
export const NEWEST: Nanos = 9_223_372_036_854_775_807n;

interface Dated {
  readonly at: Nanos;
}

/** The version that stood at the view's instant. */
export function versionOf<Version extends Dated>(
  { asOf }: View,
  versions: Versions<Version> | undefined,
): Version | undefined {
  return versions?.findLast(({ at }) => at <= asOf);
}

/** When an entity came, if the mirror node has seen it. */
export function creationOf({ since }: View, [first]: Versions<Dated>): Nanos | undefined {
  return first === undefined || first.at < since ? undefined : first.at;
}

/** As shown: null while nothing is known, because the node has not seen the entity come. */
export function deletedOf(
  view: View,
  versions: Versions<Dated>,
  { deleted }: { readonly deleted: boolean },
): boolean | null {
  return deleted || creationOf(view, versions) !== undefined ? deleted : null;
}

export function optionalTime(at: Nanos | undefined): string | null {
  return at === undefined ? null : formatTimestamp(at);
}

/** Rows by consensus time: those the view sees, within the `timestamp` filters of a query. */
export function timely(view: View, query: Query) {
  return { of: ({ at }: Dated) => at, bounds: timeBounds(view, query) };
}

/** The same, as bounds on any column of instants. */
export function timeBounds({ asOf }: View, query: Query): Bound[] {
  return [{ operator: "lte", value: asOf }, ...timeFilters(query)];
}

/** The `timestamp` filters of a query. */
export function timeFilters(query: Query) {
  return filtersOf(query, "timestamp").map(({ operator, value }) => ({
    operator,
    value: parseTimestamp(value),
  }));
}

/** The filters on a whole number. */
export function numberBounds(query: Query, name: string): Bound[] {
  return filtersOf(query, name).map(({ operator, value }) => ({ operator, value: BigInt(value) }));
}
