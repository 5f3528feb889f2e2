import { TerminalError } from "../errors.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { recordRevision } from "../store/whole-record.ts";
import type { RecordType } from "./record-type.ts";

/** Whether a record is visible, and since when (epoch milliseconds). */
export interface Approval {
  readonly type: RecordType;
  readonly id: string;
  readonly approvedAt: number | null;
}

/**
 * Makes records visible and votable, or hides them, all at once; one that is so already stays as
 * it is. A hidden record keeps its stars: "published records cannot be edited or deleted by anyone".
 *
 * @param given.seen revisions that were judged: a record that has another one by now is not made visible
 * @returns the records that there are, by id
 */
export async function setApproval(
  sql: Sql,
  type: RecordType,
  given: {
    readonly ids: readonly string[];
    readonly isApproved: boolean;
    readonly seen?: readonly string[] | undefined;
  },
): Promise<readonly Approval[]> {
  const { ids, isApproved, seen } = given;
  const wasSeen =
    seen === undefined
      ? sql`true`
      : sql`(approved_at is not null or ${recordRevision(sql)} = any(${[...seen]}::text[]))`;
  const rows = await runStatement(sql<Pick<Approval, "id" | "approvedAt">[]>`
    with decided as (
      update ${sql(type)} as record
      set approved_at = ${isApproved ? sql`coalesce(approved_at, now_ms())` : sql`null`}
      where id = any(${[...ids]}::text[]) and ${wasSeen} returning id, approved_at)
    select id, decided.approved_at as "approvedAt"
    from ${sql(type)} left join decided using (id) where id = any(${[...ids]}::text[])`);
  return rows.map((row) => ({ type, ...row })).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Makes one record visible. @throws TerminalError `NOT_FOUND` */
export const approveRecord = setOne(true);

/** Hides one record. @throws TerminalError `NOT_FOUND` */
export const rejectRecord = setOne(false);

function setOne(isApproved: boolean) {
  return async (sql: Sql, type: RecordType, id: string): Promise<Approval> => {
    const [approval] = await setApproval(sql, type, { ids: [id], isApproved });
    if (approval === undefined) throw new TerminalError("NOT_FOUND", `no ${type} has the id ${id}`);
    return approval;
  };
}
