import { bounds } from "../bounds.ts";
import { coerceError, RetryableError } from "../errors.ts";
import { failpoint } from "../failpoint.ts";
import { ensureStarPartitions } from "../store/migrate.ts";
import { codeOf, RAISED, runStatement, type Sql } from "../store/postgres.ts";
import { type DecidedStar, endRow, rowOf } from "./star-record.ts";

/** What became of a decided star. Only `stored` may leave the process. */
export type CommitOutcome =
  | {
      readonly kind: "stored";
      /** The target's counter after the commit. */
      readonly totalVotes: number;
      /** The reply its idempotency key keeps, when the commit had to be looked up. */
      readonly keptReply?: string | null;
    }
  | { readonly kind: "returned"; readonly reason: ReturnReason };

/**
 * Why a star is handed back to be decided again. The first four name what the journal compared:
 * the wallet's last star, its pass in force, the mint's releases, a claim on a serial.
 */
export type ReturnReason =
  | "slot"
  | "pass"
  | "release"
  | "claim"
  /** A twin of the request bound the idempotency key. */
  | "key"
  /** Decided by another time than the database's: look at the clock and decide again. */
  | "day"
  /** The event came under another rule since, or the project under another ledger id. */
  | "kind"
  /** A wallet whose attributions it would end has starred since: the star's reading is too old. */
  | "held"
  /** Not sent: a star on its way claims one of its serials. */
  | "outrun";

/** A decided star, and the turn that waits for its outcome. */
export interface Waiting {
  readonly decided: DecidedStar;
  /** When that ends, by `performance.now()`. */
  readonly answerBy: number;
  readonly resolve: (outcome: CommitOutcome) => void;
  readonly reject: (error: Error) => void;
}

export interface Sender {
  /** The writer's pool (`openPostgres(url, { writer: true })`). */
  readonly sql: Sql;
  readonly now: () => number;
  /** Points that each star earns (`XP_PER_STAR`); 1 when absent. */
  readonly xpPerStar?: number;
}

/** Classes of SQLSTATEs that say "this row", not "this database". */
const BAD_ROW = /^2[23]/;

interface StatementError extends Error {
  readonly code?: string;
  readonly detail?: string;
  readonly constraint_name?: string;
  readonly table_name?: string;
}

/** A deadlock's or a conflict's loser was rolled back, for certain: it may be sent again. */
const ROLLED_BACK = /^40(P01|001)$/;
const RESENDS_MAX = 3;

/** Sends a batch and settles every star of it. Never rejects. */
export async function sendBatch(
  sender: Sender,
  batch: readonly Waiting[],
  resends = 0,
): Promise<void> {
  if (batch.length === 0) return;
  try {
    if (failpoint) await failpoint("vote.before_commit");
    const rows = await castStars(sender, batch);
    if (failpoint) await failpoint("vote.after_commit");
    for (const each of batch) each.resolve(outcomeOf(rows.get(each.decided.star.id)));
  } catch (thrown) {
    const error: StatementError = coerceError(thrown);
    if (error.code === RAISED.conflict) await sendWithoutLosers(sender, batch, error.detail ?? "");
    else if (codeOf(error.cause) === RAISED.tooLate) settleTooLate(batch, error);
    // Bounded: where no partition is missing it would be sent again without end.
    else if (isMissingPartition(error) && resends < RESENDS_MAX) {
      await sendWithPartitions(sender, batch, resends + 1);
    } else if (BAD_ROW.test(error.code ?? "")) await bisect(sender, batch, error);
    else if (ROLLED_BACK.test(codeOf(error.cause)) && resends < RESENDS_MAX) {
      await sendBatch(sender, batch, resends + 1);
    } else await settleUnknown(sender, batch, error);
  }
}

interface OutcomeRow {
  readonly star_id: string;
  readonly outcome: "stored" | ReturnReason;
  readonly total_votes: number | null;
}

async function castStars(
  { sql, now, xpPerStar = 1 }: Sender,
  batch: readonly Waiting[],
): Promise<ReadonlyMap<string, OutcomeRow>> {
  const deadlineOf = ({ answerBy }: Waiting) =>
    now() + Math.floor(Math.min(bounds.statementDeadlineMs, answerBy - performance.now()));
  const turns = JSON.stringify(
    batch.map((each) => rowOf(each.decided, xpPerStar, deadlineOf(each))),
  );
  const notAfter = Math.max(...batch.map(deadlineOf));
  const answer = runStatement(sql<OutcomeRow[]>`
    select * from cast_stars(${turns}::text::json, ${notAfter}, ${endsOf(batch)}::text::json)`);
  if (failpoint) await Promise.all([failpoint("vote.commit_sent"), answer]);
  const rows = await answer;
  return new Map(rows.map((row) => [row.star_id, row]));
}

/** What ends with the star of a batch, which then is its only one; null where nothing does. */
function endsOf([first]: readonly Waiting[]): string | null {
  if (first === undefined || first.decided.ends.length === 0) return null;
  const { star, ends } = first.decided;
  return JSON.stringify({ mint: star.target.id, entries: ends.map(endRow) });
}

function outcomeOf(row: OutcomeRow | undefined): CommitOutcome {
  if (row === undefined) throw new Error("cast_stars left a star out");
  return row.outcome === "stored"
    ? { kind: "stored", totalVotes: row.total_votes ?? 0 }
    : returned(row.outcome);
}

function returned(reason: ReturnReason): CommitOutcome {
  return { kind: "returned", reason };
}

/** What was claimed, bound or released meanwhile is handed back, what is late is refused; the rest goes on. */
async function sendWithoutLosers(
  sender: Sender,
  batch: readonly Waiting[],
  detail: string,
): Promise<void> {
  const lost = new Map(
    detail.split("\n").map((line) => line.split(" ") as [string, ReturnReason | "late"]),
  );
  const rest = batch.filter(({ decided }) => !lost.has(decided.star.id));
  for (const { decided, resolve, reject } of batch) {
    const reason = lost.get(decided.star.id);
    if (reason === "late") {
      reject(new RetryableError("UNAVAILABLE", "the star was not stored in time"));
    } else if (reason !== undefined) resolve(returned(reason));
    // A detail that names none of this batch would send the same batch without end.
    else if (rest.length === batch.length) reject(new Error(`cast_stars lost others: ${detail}`));
  }
  if (rest.length === batch.length) return;
  await sendBatch(sender, rest);
}

/** Nothing is stored: today is final already, or the clocks differ. */
function settleTooLate(batch: readonly Waiting[], error: Error): void {
  const cause: StatementError = coerceError(error.cause);
  const why = "today is final already: Postgres' clock was ahead, or is behind now";
  for (const { resolve, reject } of batch) {
    if (cause.table_name === "export_day") reject(new RetryableError("UNAVAILABLE", why, 1, error));
    // By Postgres' clock the deadline has passed, by this one it has not.
    else resolve(returned("day"));
  }
}

/** A violated check names its constraint, and a message is in the server's language. */
function isMissingPartition(error: StatementError): boolean {
  return error.code === "23514" && error.constraint_name === undefined;
}

async function sendWithPartitions(
  sender: Sender,
  batch: readonly Waiting[],
  resends: number,
): Promise<void> {
  try {
    const days = new Set(batch.map(({ decided }) => decided.star.day));
    for (const day of days) await runStatement(ensureStarPartitions(sender.sql, day));
  } catch (error) {
    const refusal = new RetryableError(
      "UNAVAILABLE",
      "the journal has no room for this day",
      1,
      error,
    );
    for (const each of batch) each.reject(refusal);
    return;
  }
  await sendBatch(sender, batch, resends);
}

/** One bad row fails alone: halve until it is found. */
async function bisect(sender: Sender, batch: readonly Waiting[], error: Error): Promise<void> {
  const [only] = batch;
  if (batch.length <= 1) {
    only?.reject(error);
    return;
  }
  const middle = Math.ceil(batch.length / 2);
  await sendBatch(sender, batch.slice(0, middle));
  await sendBatch(sender, batch.slice(middle));
}

/**
 * The answer was lost: whether the commit happened must be looked up, star by star. A star not
 * found is a 503, never decided again here: its statement may still be on its way.
 */
async function settleUnknown(
  { sql }: Sender,
  batch: readonly Waiting[],
  error: Error,
): Promise<void> {
  const unknown =
    error instanceof RetryableError
      ? new RetryableError("UNAVAILABLE", "the database did not confirm the star", 1, error)
      : error;
  const ids = batch.map(({ decided }) => decided.star.id);
  const days = [...new Set(batch.map(({ decided }) => decided.star.day))];
  const found = await runStatement(
    sql<{ id: string; total: number; reply: string | null }[]>`
      select star.id, coalesce(event_total.weight, item_day.weight) as total, reply
      from star
      left join event_total on star.target_type = 'event' and event_total.event_id = star.target_id
      left join item_day using (target_type, target_id, day)
      left join idempotency_key on idempotency_key.wallet = star.wallet and star_id = star.id
      where star.day = any(${days}::date[]) and star.id = any(${ids}::uuid[])`,
    bounds.lookUpDeadlineMs,
  ).catch(() => []);
  const stored = new Map(found.map((row) => [row.id, row]));
  for (const each of batch) {
    const row = stored.get(each.decided.star.id);
    if (row === undefined) each.reject(unknown);
    else each.resolve({ kind: "stored", totalVotes: row.total, keptReply: row.reply });
  }
}
