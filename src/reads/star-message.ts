import { runStatement, type Sql } from "../store/postgres.ts";
import { READ_DEADLINE_MS } from "./deadline.ts";

/** The text that a star has on the ledger, or will have; undefined where there is no such star. */
export async function readStarMessage(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await runStatement(
    sql<{ message: string }[]>`select message from outbox where star_id = ${id}`,
    READ_DEADLINE_MS,
  );
  return row?.message;
}
