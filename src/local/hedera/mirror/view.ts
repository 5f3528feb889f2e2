import type { Fragment } from "postgres";
import type { Sql } from "../../../store/postgres.ts";
import type { LedgerStore, Table } from "../state/store.ts";
import { parseTimestamp } from "../timestamps.ts";
import type { Filter, Operator } from "./parameters.ts";

/** The rows of the ledger as one request sees them: up to an instant, and no further. */
export interface View {
  readonly sql: Sql;
  readonly table: Table;
  /** Nanoseconds, as text for a `bigint` parameter; nothing later is visible. */
  readonly asOf: string;
}

/** Sees everything that is durable. */
export const NEWEST = "9223372036854775807";

export function viewAsOf({ sql, table }: LedgerStore, asOf: string): View {
  return { sql, table, asOf };
}

/** The version of an entity's row that was valid at the view's instant. */
export function isCurrent({ sql, asOf }: View, alias: string): Fragment {
  return sql`${sql(`${alias}.valid_from`)} <= ${asOf}::bigint and
    (${sql(`${alias}.valid_to`)} is null or ${sql(`${alias}.valid_to`)} > ${asOf}::bigint)`;
}

/** An event's row that had happened by the view's instant. */
export function hasHappened({ sql, asOf }: View, column: string): Fragment {
  return sql`${sql(column)} <= ${asOf}::bigint`;
}

const SIGN: Readonly<Record<Operator, string>> = {
  eq: "=",
  ne: "<>",
  lt: "<",
  lte: "<=",
  gt: ">",
  gte: ">=",
};

/** A column against a whole number. */
export function compare({ sql }: View, column: string, filter: Filter): Fragment {
  return sql`${sql(column)} ${sql.unsafe(SIGN[filter.operator])} ${filter.value}::bigint`;
}

/** A column of nanoseconds against a `seconds.nanos` text. */
export function compareTime(view: View, column: string, filter: Filter): Fragment {
  return compare(view, column, { ...filter, value: String(parseTimestamp(filter.value)) });
}

export function allOf({ sql }: View, conditions: readonly Fragment[]): Fragment {
  return conditions.reduce((left, right) => sql`${left} and ${right}`, sql`true`);
}

/** @param order checked before: it becomes part of the statement */
export function sorted({ sql }: View, order: "asc" | "desc"): Fragment {
  return sql.unsafe(order);
}
