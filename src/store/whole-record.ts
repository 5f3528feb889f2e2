import type { Sql } from "./postgres.ts";

/** The catalogue's row called `record`, as an operator judges it: whole, but for its approval. */
export function wholeRecord(sql: Sql) {
  return sql`to_jsonb(record) - '{number,approved_at}'::text[]`;
}

/** A hash of it: another one once any field of it is another. */
export function recordRevision(sql: Sql) {
  return sql`encode(sha256(convert_to((${wholeRecord(sql)})::text, 'UTF8')), 'hex')`;
}
