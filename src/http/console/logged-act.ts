import { uuidv7 } from "uuidv7";
import type { OperatorSession } from "../../keys/operator-session.ts";
import { appendOperatorLog } from "../../store/operator-log.ts";
import type { Sql } from "../../store/postgres.ts";
import { sentenceOf } from "./error-page.ts";

/** Something that an operator does. */
export interface Act {
  readonly session: OperatorSession;
  /** In the log: `keys.revoke`. */
  readonly name: string;
  /** What it is about; nothing secret. */
  readonly subject: string;
}

/** How it ended, as the log shows it. */
export interface ActEnd {
  /** One sentence. */
  readonly notice: string;
  /** Nothing secret. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * Does it between two lines of the operator log: nothing happens without the first.
 *
 * @returns how it ended, with the id that joins the two lines
 * @throws what `run` throws, once that is written down; RetryableError without Postgres
 */
export async function actLogged<End extends ActEnd>(
  sql: Sql,
  { session, name, subject }: Act,
  run: () => Promise<End>,
): Promise<End & { readonly actionId: string }> {
  const actionId = uuidv7();
  const { operator, id: sessionId } = session;
  const entry = { actionId, action: name, subject, operator, sessionId, notice: "", details: {} };
  await appendOperatorLog(sql, { ...entry, phase: "begun" });
  // In a promise of its own: what an act throws before its first wait is written down too.
  const end = await Promise.resolve()
    .then(run)
    .catch(async (error: unknown) => {
      await appendOperatorLog(sql, { ...entry, phase: "failed", notice: sentenceOf(error) });
      throw error;
    });
  const { notice, details = {} } = end;
  await appendOperatorLog(sql, { ...entry, phase: "done", notice, details });
  return { ...end, actionId };
}
