import type { Context } from "hono";
import { z } from "zod";
import { TerminalError } from "../../errors.ts";

/** A query or path parameter as the directory lists it. */
export const listedParameter = z.strictObject({
  name: z.string(),
  in: z.enum(["query", "path"]),
  type: z.enum(["integer", "string"]),
  required: z.boolean(),
  default: z.union([z.string(), z.number()]).nullable(),
  minimum: z.number().nullable(),
  maximum: z.number().nullable(),
  allowed: z.array(z.string()).nullable(),
});
type ListedParameter = z.output<typeof listedParameter>;

/** Taken by every endpoint that needs a key, and looked at by the key check alone. */
const API_KEY = "api_key";
const INTEGER_MAX = 999_999_999;
export const LIMIT_MAX = 100;

const integer = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/)
    .transform(Number)
    .pipe(z.int().min(minimum).max(maximum));

/** `limit`: "integer 1 to 100" unless more are given; anything else is refused, never clamped. */
export const limit = (fallback: number, most = LIMIT_MAX) =>
  integer(1, most).default(fallback).describe("Most records of one reply.");

export const offset = () =>
  integer(0, INTEGER_MAX).default(0).describe("Position of the first record, from 0.");

/** One of a fixed set, spelt exactly so. */
export const choice = <const V extends readonly string[]>(values: V) => z.enum(values).optional();

export const none = z.strictObject({});

/** Any two ASCII letters, in either case. */
export const country = () =>
  z
    .string()
    .regex(/^[A-Za-z]{2}$/)
    .toUpperCase()
    .optional()
    .describe("Two-letter country code, in either case.");

export const NAME_PART_CHARACTERS_MAX = 100;
const NAME_PART = new RegExp(`^\\P{Cc}{1,${NAME_PART_CHARACTERS_MAX}}$`, "u");

/** Part of a name, without controls. */
export const namePart = () => z.string().regex(NAME_PART).optional();

/** The query of a request's URL, without its question mark. */
export function searchOf(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start + 1);
}

/** What `searchOf` gives, in parts. A second question mark is part of a name, and no mark. */
export function parseSearch(search: string): URLSearchParams {
  return new URLSearchParams(`?${search}`);
}

/**
 * Reads a query against a shape. Bad are a value outside its set or range, an empty value, a
 * repeated parameter, and one that the endpoint does not have.
 *
 * @throws TerminalError `INVALID_PARAMETER` with `parameter` and `allowed`
 */
export function readQuery<S extends z.ZodObject>(shape: S, search: URLSearchParams): z.output<S> {
  const keys = search.getAll(API_KEY);
  if (keys.length > 1) throw invalid(shape, { name: API_KEY, flaw: "is given more than once" });
  const given = parseParameters(
    shape,
    [...search].filter(([name]) => name !== API_KEY),
  );
  if ("flaw" in given) throw invalid(shape, given);
  return given.values;
}

/** What is wrong with a parameter, in words that follow its name. */
export interface ParameterFlaw {
  readonly name: string;
  readonly flaw: string;
}

/** Checks parameters as `readQuery` does. @returns their values, or the first flaw */
export function parseParameters<S extends z.ZodObject>(
  shape: S,
  search: Iterable<readonly [string, string]>,
): { readonly values: z.output<S> } | ParameterFlaw {
  const given = new Map<string, string>();
  for (const [name, value] of search) {
    if (!Object.hasOwn(shape.shape, name))
      return { name, flaw: "is not a parameter of this endpoint" };
    if (given.has(name)) return { name, flaw: "is given more than once" };
    if (value === "") return { name, flaw: "is empty" };
    given.set(name, value);
  }
  const parsed = shape.safeParse(Object.fromEntries(given));
  if (parsed.success) return { values: parsed.data };
  const name = String(parsed.error.issues[0]?.path[0]);
  return { name, flaw: given.has(name) ? "is not valid" : "is missing" };
}

/** The parameters of an endpoint, for the directory. */
export function listParameters(query: z.ZodObject, path: z.ZodObject): ListedParameter[] {
  return [
    ...Object.entries(path.shape).map(([name, schema]) => listed(name, "path", schema)),
    ...Object.entries(query.shape).map(([name, schema]) => listed(name, "query", schema)),
  ];
}

/** Long enough to recognise, short enough not to send a flood back. */
const NAME_CHARACTERS_MAX = 64;

/** A parameter's name as a refusal repeats it. */
export function shownName(name: string): string {
  return name.slice(0, NAME_CHARACTERS_MAX);
}

function invalid(shape: z.ZodObject, { name, flaw }: ParameterFlaw): TerminalError {
  const parameter = shownName(name);
  return new TerminalError("INVALID_PARAMETER", `The parameter ${parameter} ${flaw}.`, {
    parameter,
    allowed: allowed(shape, name),
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
    // An enumeration whose values are a setting that is not set allows nothing.
    allowed: json.enum?.map(String) ?? (json.not === undefined ? null : []),
  };
}

/** What stands behind the beginning of a request's path, decoded; empty where it cannot be decoded. */
export function restOfPath(c: Context, beginning: string): string {
  try {
    return decodeURIComponent(c.req.path.slice(beginning.length));
  } catch {
    return "";
  }
}
