import type { Sql } from "../../src/store/postgres.ts";

/**
 * Takes a connection out of a pool, for a lock or a transaction over several statements; its
 * `release` gives it back. It is opened by a statement first: in postgres.js 3.4.9 `reserve` never
 * gets a connection that it opens itself without asking for types.
 */
export async function reserveConnection(sql: Sql) {
  await sql`select`;
  return sql.reserve();
}
