import { TerminalError } from "../errors.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import type { RecordType } from "./record-type.ts";

/** Whether a record is visible, and since when (epoch milliseconds). */
export interface Approval {
  readonly type: RecordType;
  readonly id: string;
  readonly approvedAt: number | null;
}

/**
 * Makes a record visible and votable; one that is already stays as it is.
 *
 * @throws TerminalError `NOT_FOUND`
 */
export async function approveRecord(sql: Sql, type: RecordType, id: string): Promise<Approval> {
  const [row] = await runStatement(sql<{ approvedAt: number }[]>`
    update ${sql(type)} set approved_at = coalesce(approved_at, now_ms())
    where id = ${id} returning approved_at as "approvedAt"`);
  return found(type, id, row);
}

/**
 * Hides a record. Its stars stay: "published records cannot be edited or deleted by anyone".
 *
 * @throws TerminalError `NOT_FOUND`
 */
export async function rejectRecord(sql: Sql, type: RecordType, id: string): Promise<Approval> {
  const [row] = await runStatement(sql<{ approvedAt: null }[]>`
    update ${sql(type)} set approved_at = null where id = ${id}
    returning approved_at as "approvedAt"`);
  return found(type, id, row);
}

function found(
  type: RecordType,
  id: string,
  row: Pick<Approval, "approvedAt"> | undefined,
): Approval {
  if (row === undefined) throw new TerminalError("NOT_FOUND", `no ${type} has the id ${id}`);
  return { type, id, approvedAt: row.approvedAt };
}
