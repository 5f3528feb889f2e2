import type { Helper } from "postgres";
import { inTime, type Sql } from "../../../store/postgres.ts";
import type { Nanos } from "../timestamps.ts";
import { loadState } from "./load.ts";
import { type Rows, rowsAsJson } from "./rows.ts";
import { schemaStatements } from "./schema.ts";
import type { State } from "./state.ts";

/** A table's name, qualified and quoted for use in a query. */
export type Table = (name: string) => Helper<string>;

/** What one batch adds: the state it leads to, and the consensus timestamp it starts from. */
export interface Batch {
  readonly rows: Rows;
  readonly previous: Nanos;
  readonly state: State;
}

/** The ledger's schema in Postgres: the one place where its rows are written. */
export interface LedgerStore {
  readonly sql: Sql;
  readonly table: Table;
  /**
   * Writes a batch, whole or not at all.
   *
   * @returns false when another ledger has taken over, or when the batch before this one
   *   is not the last that was written
   */
  commit(batch: Batch): Promise<boolean>;
  /** Reads everything back, as of the last batch written. */
  load(now: Nanos): Promise<State>;
}

/**
 * Makes the schema if needed and takes it over: whoever opened it before can write no more.
 */
export async function openStore(sql: Sql, schema: string): Promise<LedgerStore> {
  const table: Table = (name) => sql(`${schema}.${name}`);
  await sql.unsafe(schemaStatements(schema));
  await sql`update ${table("head")} set epoch = epoch + 1`;
  return {
    sql,
    table,
    async commit({ rows, previous, state }) {
      const [row] = await inTime(sql<{ written: boolean }[]>`
        select ${table("commit_batch")}(
          ${rowsAsJson(rows)}::text::jsonb, ${state.epoch}, ${String(previous)}::bigint,
          ${String(state.lastConsensus)}::bigint, ${state.nextEntity}) as written`);
      return row?.written === true;
    },
    load: (now) => loadState({ sql, table }, now),
  };
}
