import type { Bound } from "../sorted.ts";
import { type Nanos, parseTimestamp } from "../timestamps.ts";
import { entityNum, readEntityNum } from "./entity-reference.ts";
import { invalidParameter, MirrorError } from "./errors.ts";

/** One `name=operator:value` of a query. */
interface Filter {
  readonly operator: Bound["operator"];
  readonly value: string;
}

/** A query's values by name, in the order they came: `links.next` repeats them so. */
export type Query = ReadonlyMap<string, readonly string[]>;

/** Whether a value may stand for a parameter. */
export type Accepts = (filter: Filter) => boolean;

const FILTER = /^(?:(eq|lt|lte|gt|gte):)?([^:]*)$/;
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
  const wrong = [...query].flatMap(([name, values]) => {
    const accepts = Object.hasOwn(accepted, name) ? accepted[name] : undefined;
    if (accepts === undefined) return [`Unknown query parameter: ${name}`];
    const isBad = (text: string): boolean => {
      const filter = readFilter(text);
      return filter === undefined || !accepts(filter);
    };
    if (values.length > REPEATED_MAX) {
      return [`Parameter: ${name} count: ${values.length} exceeds max: ${REPEATED_MAX}`];
    }
    return values.filter(isBad).map((text) => refusalOf(text, name));
  });
  if (wrong.length > 0) throw new MirrorError(400, wrong);
}

function refusalOf(text: string, name: string): string {
  return text.startsWith("ne:")
    ? `Not equal (ne) operator is not supported for ${name}`
    : `Invalid parameter: ${name}`;
}

export const isOrder: Accepts = ({ value }) => /^(asc|desc)$/i.test(value);
export const isFlag: Accepts = ({ value }) => /^(true|false)$/i.test(value);
export const isPositiveLong: Accepts = ({ value }) =>
  /^\d{1,19}$/.test(value) && BigInt(value) > 0n && BigInt(value) <= MAX_LONG;
export const isTimestamp: Accepts = ({ value }) => /^\d{1,10}(\.\d{1,9})?$/.test(value);
export const isEntityId: Accepts = ({ value }) => entityNum(value) !== undefined;
export const isOneEntity: Accepts = (filter) => filter.operator === "eq" && isEntityId(filter);

/** A part of the path. @throws MirrorError 400 naming the parameter that it stands for */
export function readPart(value: string, accepts: Accepts, parameter: string): string {
  return accepts({ operator: "eq", value }) ? value : invalidParameter(parameter);
}

/** What every list takes. */
export const PAGE = { limit: isPositiveLong, order: isOrder } as const;

/** Of what a query says twice the last counts. */
export function lastOf(query: Query, name: string): string | undefined {
  return readFilter(query.get(name)?.at(-1) ?? "")?.value || undefined;
}

/** The filters of one parameter as bounds on a column; `eq` where none is written. */
function boundsOf(query: Query, name: string, read: (value: string) => Bound["value"]): Bound[] {
  const filters = (query.get(name) ?? []).flatMap((text) => readFilter(text) ?? []);
  return filters.map(({ operator, value }) => ({ operator, value: read(value) }));
}

export const numberBounds = (query: Query, name: string) => boundsOf(query, name, BigInt);

export const entityBounds = (query: Query, name: string) =>
  boundsOf(query, name, (text) => readEntityNum(text, name));

/** Rows by consensus time, within the `timestamp` filters of a query. */
export function timely(query: Query) {
  const bounds = boundsOf(query, "timestamp", parseTimestamp);
  return { of: ({ at }: { readonly at: Nanos }) => at, bounds };
}

function readFilter(text: string): Filter | undefined {
  const found = FILTER.exec(text);
  if (found === null) return undefined;
  const [, operator = "eq", value = ""] = found;
  // The pattern allows no others.
  return { operator: operator as Filter["operator"], value };
}
