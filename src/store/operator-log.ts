import type { JSONValue } from "postgres";
import { runStatement, type Sql } from "./postgres.ts";

export interface Actor {
  /** The operator's name, or the login that runs a command. */
  readonly operator: string;
  /** The console's session; null for a command. */
  readonly sessionId: string | null;
  /** The client's address, or `command`. */
  readonly origin: string;
}

/** One line of the operator log. Nothing secret may stand in it. */
export interface OperatorEntry extends Actor {
  /** Joins the start of an act with how it ended. */
  readonly actionId: string;
  readonly phase: "started" | "done" | "failed";
  /** As `keys.revoke`. */
  readonly action: string;
  /** What it was about: an id, a name. */
  readonly subject: string;
  /** One sentence for people. */
  readonly notice: string;
  /** Why, where the act asks for it. */
  readonly reason: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface KeptEntry extends OperatorEntry {
  readonly id: number;
  readonly at: number;
}

/** Appends to the log; nothing there is ever changed. */
export async function appendOperatorLog(sql: Sql, entry: OperatorEntry): Promise<void> {
  await runStatement(sql`
    insert into operator_log
      (action_id, phase, operator, session_id, origin, action, subject, notice, reason, details)
    values (${entry.actionId}, ${entry.phase}, ${entry.operator}, ${entry.sessionId},
      ${entry.origin}, ${entry.action}, ${entry.subject}, ${entry.notice}, ${entry.reason},
      ${sql.json(entry.details as JSONValue)})`);
}

/** Whether there is a log to write to: a database may be away, or not migrated yet. */
export async function canLog(sql: Sql): Promise<boolean> {
  const looked = runStatement(sql<{ log: string | null }[]>`
    select to_regclass('operator_log')::text as log`);
  const [row] = await looked.catch(() => []);
  return typeof row?.log === "string";
}

/**
 * The log, newest first: how each act ended, or its start where no end is known. Both rows
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
    where not (phase = 'started' and exists (
        -- By key: without the offset the whole log would be read for each page.
        select from operator_log later
        where later.action_id = entry.action_id and later.phase <> 'started' offset 0))
      and ${before === undefined ? sql`true` : sql`id < ${before}`} order by id desc limit ${limit}`);
}

/** Every row from the first on, starts too. @param query.after only rows newer than this one */
export async function operatorLogRows(
  sql: Sql,
  { limit, after }: { readonly limit: number; readonly after: number },
): Promise<readonly KeptEntry[]> {
  return runStatement(sql<KeptEntry[]>`
    select ${columns(sql)} from operator_log where id > ${after} order by id limit ${limit}`);
}

/** How an act of this session ended; undefined while it has not, or where it is not theirs. */
export async function findOutcome(
  sql: Sql,
  { actionId, sessionId }: { readonly actionId: string; readonly sessionId: string },
): Promise<KeptEntry | undefined> {
  const [entry] = await runStatement(sql<KeptEntry[]>`
    select ${columns(sql)} from operator_log
    where action_id = ${actionId} and session_id = ${sessionId} and phase <> 'started'`);
  return entry;
}

function columns(sql: Sql) {
  return sql`id, at, action_id as "actionId", phase, operator, session_id as "sessionId", origin,
    action, subject, notice, reason, details`;
}
