import { runStatement, type Sql } from "../store/postgres.ts";
import type { RecordType } from "./record-type.ts";

/**
 * Makes records visible, or hides them, all at once; one that is so already stays as it is.
 *
 * @returns the ids that there are, in their order
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export async function setApproval(
  sql: Sql,
  asked: {
    readonly type: RecordType;
    readonly ids: readonly string[];
    readonly isApproved: boolean;
  },
): Promise<readonly string[]> {
  const { type, ids, isApproved } = asked;
  const rows = await runStatement(sql<{ id: string }[]>`
    update ${sql(type)}
    set approved_at = ${isApproved ? sql`coalesce(approved_at, now_ms())` : sql`null`}
    where id = any(${[...ids]}::text[]) returning id`);
  return rows.map(({ id }) => id).sort();
}
