import type { Sql } from "../../src/store/postgres.ts";

/** What a session did to a table and its indexes. */
export interface TableReads {
  readonly rows: number;
  readonly indexScans: number;
}

/**
 * Counts what work inside a transaction reads of a table. The session's own counts go on from what
 * it did before, which it reports once a second at most, and never inside a transaction.
 */
export async function readsOf(
  transaction: Sql,
  table: string,
  work: () => Promise<unknown>,
): Promise<TableReads> {
  const before = await countedOf(transaction, table);
  await work();
  const after = await countedOf(transaction, table);
  return {
    rows: after.rows - before.rows,
    indexScans: after.indexScans - before.indexScans,
  };
}

async function countedOf(transaction: Sql, table: string): Promise<TableReads> {
  const [counted] = await transaction<TableReads[]>`
    select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as rows,
      coalesce(idx_scan, 0) as "indexScans"
    from pg_stat_xact_user_tables where relname = ${table}`;
  if (counted === undefined) throw new Error(`no table ${table}`);
  return counted;
}
