import { invalidParameter, MirrorError } from "./errors.ts";

export type Operator = "eq" | "lt" | "lte" | "gt" | "gte";
export type Order = "asc" | "desc";

/** One `name=operator:value` of a query. */
export interface Filter {
  readonly operator: Operator;
  readonly value: string;
}

/** A query's values by name, in the order they came: `links.next` repeats them so. */
export type Query = ReadonlyMap<string, readonly string[]>;

/** Whether a value may stand for a parameter. */
export type Accepts = (filter: Filter) => boolean;

const OPERATOR = /^(eq|lt|lte|gt|gte)$/;
const REPEATED_MAX = 100;
const MAX_LONG = 9_223_372_036_854_775_807n;

/** Names are compared without regard to case. */
export function readQuery(url: URL): Query {
  const query = new Map<string, string[]>();
  for (const [name, value] of url.searchParams) {
    const key = name.toLowerCase();
    query.set(key, [...(query.get(key) ?? []), value]);
  }
  return query;
}

/** @throws MirrorError 400 naming every parameter that is unknown or has a bad value */
export function checkQuery(query: Query, accepted: Readonly<Record<string, Accepts>>): void {
  const wrong: string[] = [];
  for (const [name, values] of query) {
    const accepts = Object.hasOwn(accepted, name) ? accepted[name] : undefined;
    if (accepts === undefined) wrong.push(`Unknown query parameter: ${name}`);
    else if (values.length > REPEATED_MAX) {
      wrong.push(`Parameter: ${name} count: ${values.length} exceeds max: ${REPEATED_MAX}`);
    } else {
      for (const value of values) {
        const filter = readFilter(value);
        if (filter !== undefined && accepts(filter)) continue;
        const isNot = value.startsWith("ne:");
        wrong.push(
          isNot
            ? `Not equal (ne) operator is not supported for ${name}`
            : `Invalid parameter: ${name}`,
        );
      }
    }
  }
  if (wrong.length > 0) throw new MirrorError(400, wrong);
}

/** The filters of one parameter; `eq` where none is written. */
export function filtersOf(query: Query, name: string): Filter[] {
  return (query.get(name) ?? []).flatMap((value) => readFilter(value) ?? []);
}

export const isOrder: Accepts = ({ value }) => /^(asc|desc)$/i.test(value);
export const isFlag: Accepts = ({ operator, value }) =>
  operator === "eq" && /^(true|false)$/i.test(value);
export const isPositiveLong: Accepts = ({ value }) => isLong(value) && BigInt(value) > 0n;
export const isTimestamp: Accepts = ({ value }) => /^\d{1,10}(\.\d{1,9})?$/.test(value);
export const isEntityId: Accepts = ({ value }) =>
  /^((\d{1,4}\.)?\d{1,5}\.\d{1,12}|\d{1,19}|(0x)?0{24}[0-9a-f]{16})$/i.test(value);

/** A part of the path. @throws MirrorError 400 naming the parameter that it stands for */
export function readPart(value: string, accepts: Accepts, parameter: string): string {
  if (accepts({ operator: "eq", value })) return value;
  throw invalidParameter(parameter);
}

/** What every list takes. */
export const PAGE = { limit: isPositiveLong, order: isOrder } as const;

function isLong(value: string): boolean {
  return /^\d{1,19}$/.test(value) && BigInt(value) <= MAX_LONG;
}

function readFilter(text: string): Filter | undefined {
  const parts = text.split(":");
  if (parts.length === 1) return { operator: "eq", value: text };
  const [operator = "", value = ""] = parts;
  if (parts.length > 2 || !OPERATOR.test(operator)) return undefined;
  return { operator: operator as Operator, value };
}
