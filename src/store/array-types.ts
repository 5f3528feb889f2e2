import type { PostgresType } from "postgres";

/**
 * Postgres' array types as JavaScript arrays. postgres.js 3.4.9 can ask each new connection for them,
 * but uses a connection also where the server refused to say them, as it does while it starts: then
 * each statement of the pool with an array fails. And nothing catches that question's own failure. So
 * the types that our statements use stand here, and pools do not ask.
 */
export const ARRAY_TYPES = {
  smallints: arrayType(1005, Number),
  integers: arrayType(1007, Number),
  texts: arrayType(1009, String),
  dates: arrayType(1182, String),
  uuids: arrayType(2951, String),
  doubles: arrayType(1022, Number),
} as const;

const ELEMENT = /"((?:[^"\\]|\\.)*)"|([^,]+)/gs;

/**
 * A type of one-dimensional arrays; null stands for NULL.
 *
 * @param oid of the array type, in `pg_type`
 * @param parse an element's text
 */
export function arrayType<T>(
  oid: number,
  parse: (text: string) => T,
): PostgresType<readonly (T | null)[]> {
  return {
    to: oid,
    from: [oid],
    serialize: (values) => `{${values.map(elementText).join(",")}}`,
    parse: (text: string) =>
      Array.from(text.slice(1, -1).matchAll(ELEMENT), ([, quoted, bare]) => {
        if (bare !== undefined) return bare === "NULL" ? null : parse(bare);
        return parse((quoted ?? "").replace(/\\(.)/gs, "$1"));
      }),
  };
}

function elementText(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  return `"${String(value).replace(/["\\]/g, "\\$&")}"`;
}
