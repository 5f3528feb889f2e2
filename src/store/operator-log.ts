import type { JSONValue } from "postgres";
import { uuidv7 } from "uuidv7";
import { RetryableError, TerminalError } from "../errors.ts";
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

/** What an act of this session has done; undefined where it has not, or is not theirs. */
export async function findOutcome(
  sql: Sql,
  { actionId, sessionId }: { readonly actionId: string; readonly sessionId: string },
): Promise<KeptEntry | undefined> {
  const [entry] = await runStatement(sql<KeptEntry[]>`
    select ${columns(sql)} from operator_log
    where action_id = ${actionId} and session_id = ${sessionId} and phase = 'done'`);
  return entry;
}

function columns(sql: Sql) {
  return sql`id, at, action_id as "actionId", phase, operator, session_id as "sessionId", origin,
    action, subject, notice, reason, details`;
}

/** Something that an operator does, at the console or by a command. */
export interface Act extends Pick<OperatorEntry, "subject"> {
  readonly actor: Actor;
  /** In the log: `keys.revoke`. */
  readonly name: string;
  readonly reason?: string | undefined;
}

export interface ActEnd extends Pick<OperatorEntry, "notice"> {
  readonly details?: OperatorEntry["details"] | undefined;
}

/** A refused file may have a flaw in every record, and what stands in the log stays there. */
const NOTICE_CHARACTERS_MAX = 1_000;

/**
 * Does it between two lines of the operator log: nothing happens without the first. Where the second
 * is missing, the log does not know how it ended; the caller does, for what was done may be shown
 * only once.
 *
 * @returns how it ended, with the id that joins the two lines
 * @throws what `run` throws, once that is written down; RetryableError without Postgres
 */
export async function actLogged<End extends ActEnd>(
  sql: Sql,
  { actor, name: action, subject, reason }: Act,
  run: () => Promise<End>,
): Promise<End & { readonly actionId: string }> {
  const about = { action, subject, reason: reason ?? null };
  const entry = { ...actor, ...about, actionId: uuidv7() };
  await appendOperatorLog(sql, { ...entry, phase: "started", notice: "", details: {} });
  const noteEnd = (ended: Pick<OperatorEntry, "phase"> & ActEnd): Promise<void> =>
    appendOperatorLog(sql, { ...entry, ...ended, details: ended.details ?? {} }).catch((error) => {
      if (!(error instanceof RetryableError)) throw error;
    });
  // In a promise of its own: what an act throws before its first wait is written down too.
  const end = await Promise.resolve()
    .then(run)
    .catch(async (error: unknown) => {
      const sentence = sentenceOf(error);
      const notice =
        sentence.length > NOTICE_CHARACTERS_MAX
          ? `${sentence.slice(0, NOTICE_CHARACTERS_MAX)}…`
          : sentence;
      await noteEnd({ phase: "failed", notice });
      throw error;
    });
  const { notice, details } = end;
  await noteEnd({ phase: "done", notice, details });
  return { ...end, actionId: entry.actionId };
}

/** What may be shown of an error: only the sentences that were written for the caller. */
export function sentenceOf(error: unknown): string {
  const isForCaller = error instanceof TerminalError || error instanceof RetryableError;
  if (!isForCaller) return "Something went wrong on our side.";
  const { message } = error;
  const end = /[.!?]$/.test(message) ? "" : ".";
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${end}`;
}
