import type { JSONValue } from "postgres";
import { runStatement, type Sql } from "./postgres.ts";

/** Who did it: the name typed at sign-in, and the session. */
export interface Operator {
  readonly operator: string;
  readonly sessionId: string;
}

/** One line of the operator log. Nothing secret may stand in it. */
export interface OperatorEntry extends Operator {
  /** Joins the start of an action with how it ended. */
  readonly actionId: string;
  readonly phase: "begun" | "done" | "failed";
  /** As `keys.revoke`. */
  readonly action: string;
  /** What it was about: an id, a name. */
  readonly subject: string;
  /** One sentence for people. */
  readonly notice: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** An entry as it was kept. */
export interface KeptEntry extends OperatorEntry {
  readonly id: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Appends to the log; nothing there is ever changed. */
export async function appendOperatorLog(sql: Sql, entry: OperatorEntry): Promise<void> {
  await runStatement(sql`
    insert into operator_log (action_id, phase, operator, session_id, action, subject, notice, details)
    values (${entry.actionId}, ${entry.phase}, ${entry.operator}, ${entry.sessionId},
      ${entry.action}, ${entry.subject}, ${entry.notice}, ${sql.json(entry.details as JSONValue)})`);
}

/**
 * The log, newest first: how each action ended, or its start where no end is known. Both rows
 * stay stored.
 *
 * @param query.before only entries older than this one
 */
export async function readOperatorLog(
  sql: Sql,
  { limit, before }: { readonly limit: number; readonly before?: number | undefined },
): Promise<readonly KeptEntry[]> {
  return runStatement(sql<KeptEntry[]>`
    select ${columns(sql)} from operator_log entry
    where not (phase = 'begun' and exists (
        select from operator_log later
        where later.action_id = entry.action_id and later.phase <> 'begun'))
      and ${before === undefined ? sql`true` : sql`id < ${before}`} order by id desc limit ${limit}`);
}

/** How an action of this session ended; undefined while it has not, or where it is not theirs. */
export async function findOutcome(
  sql: Sql,
  { actionId, sessionId }: Pick<OperatorEntry, "actionId" | "sessionId">,
): Promise<KeptEntry | undefined> {
  const [entry] = await runStatement(sql<KeptEntry[]>`
    select ${columns(sql)} from operator_log
    where action_id = ${actionId} and session_id = ${sessionId} and phase <> 'begun'`);
  return entry;
}

function columns(sql: Sql) {
  return sql`id, at, action_id as "actionId", phase, operator, session_id as "sessionId",
    action, subject, notice, details`;
}
