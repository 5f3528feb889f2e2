import { z } from "zod";
import { TerminalError } from "../../errors.ts";

/** A query or path parameter as the directory lists it. */
export interface ListedParameter {
  readonly name: string;
  readonly in: "query" | "path";
  readonly type: "integer" | "string";
  readonly required: boolean;
  readonly default: string | number | null;
  readonly minimum: number | null;
  readonly maximum: number | null;
  readonly allowed: readonly string[] | null;
}

/** Taken by every endpoint that needs a key, and looked at by the key check alone. */
const API_KEY = "api_key";
const INTEGER_MAX = 999_999_999;

const integer = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/)
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum));

/** `limit`: "integer 1 to 100"; anything else is refused, never clamped. */
export const limit = (fallback: number) =>
  integer(1, 100).default(fallback).describe("Most records of one reply.");

export const offset = () =>
  integer(0, INTEGER_MAX).default(0).describe("Position of the first record, from 0.");

/** One of a fixed set, spelt exactly so. */
export const choice = <const V extends readonly string[]>(values: V) => z.enum(values).optional();

/** Of an endpoint that takes none. */
export const none = z.strictObject({});

/** Any two ASCII letters, in either case. */
export const country = () =>
  z
    .string()
    .regex(/^[A-Za-z]{2}$/)
    .toUpperCase()
    .optional()
    .describe("Two-letter country code, in either case.");

/**
 * Reads a query against a shape. Bad are a value outside its set or range, an empty value, a
 * repeated parameter, and one that the endpoint does not have.
 *
 * @throws TerminalError `INVALID_PARAMETER` with `parameter` and `allowed`
 */
export function readQuery<S extends z.ZodObject>(shape: S, search: URLSearchParams): z.output<S> {
  const given = new Map<string, string>();
  for (const [name, value] of search) {
    // An empty key counts as absent; two are two.
    if (name !== API_KEY || given.has(name)) refuseUnfit(shape, given, name, value);
    given.set(name, value);
  }
  given.delete(API_KEY);
  const parsed = shape.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  throw invalid(shape, String(parsed.error.issues[0]?.path[0]), "is not valid");
}

/** The parameters of an endpoint, for the directory. */
export function listParameters(query: z.ZodObject, path: z.ZodObject): ListedParameter[] {
  return [
    ...Object.entries(path.shape).map(([name, schema]) => listed(name, "path", schema)),
    ...Object.entries(query.shape).map(([name, schema]) => listed(name, "query", schema)),
  ];
}

function refuseUnfit(
  shape: z.ZodObject,
  given: ReadonlyMap<string, string>,
  name: string,
  value: string,
): void {
  if (name !== API_KEY && !Object.hasOwn(shape.shape, name)) {
    throw invalid(shape, name, "is not a parameter of this endpoint");
  }
  if (given.has(name)) throw invalid(shape, name, "is given more than once");
  if (value === "") throw invalid(shape, name, "is empty");
}

/** Long enough to recognise, short enough not to send a flood back. */
const NAME_CHARACTERS_MAX = 64;

function invalid(shape: z.ZodObject, parameter: string, flaw: string): TerminalError {
  const shown = parameter.slice(0, NAME_CHARACTERS_MAX);
  return new TerminalError("INVALID_PARAMETER", `The parameter ${shown} ${flaw}.`, {
    parameter: shown,
    allowed: allowed(shape, parameter),
  });
}

/** The values of an enumeration, a range or form in words, or the names that the endpoint has. */
function allowed(shape: z.ZodObject, name: string): string | readonly string[] {
  if (name === API_KEY) return "one API key";
  const schema = Object.hasOwn(shape.shape, name) ? shape.shape[name] : undefined;
  if (schema === undefined) return Object.keys(shape.shape);
  const { minimum, maximum, allowed: values } = listed(name, "query", schema);
  if (values !== null) return values;
  return minimum === null ? "two-letter country code" : `integer ${minimum} to ${maximum}`;
}

function listed(name: string, where: "query" | "path", schema: z.core.$ZodType): ListedParameter {
  const json = z.toJSONSchema(schema, { io: "output" });
  return {
    name,
    in: where,
    type: json.type === "integer" ? "integer" : "string",
    required: where === "path",
    default: typeof json.default === "number" ? json.default : null,
    minimum: json.minimum ?? null,
    maximum: json.maximum ?? null,
    allowed: json.enum?.map(String) ?? null,
  };
}
