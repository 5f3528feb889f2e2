import { uuidv7 } from "uuidv7";
import { RetryableError, TerminalError } from "../errors.ts";
import { type Actor, appendOperatorLog, type OperatorEntry } from "./operator-log.ts";
import type { Sql } from "./postgres.ts";

/** Something that an operator does, at the console or by a command. */
export interface Act {
  readonly actor: Actor;
  /** In the log: `keys.revoke`. */
  readonly name: string;
  /** What it is about; nothing secret. */
  readonly subject: string;
  /** Why, where the act asks for it. */
  readonly reason?: string | undefined;
}

export interface ActEnd {
  /** One sentence. */
  readonly notice: string;
  /** Nothing secret. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
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
