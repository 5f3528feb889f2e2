import { bounds } from "../config.ts";
import { coerceError, RetryableError } from "../errors.ts";
import { failpoint } from "../failpoint.ts";
import { ensureStarPartitions } from "../store/migrate.ts";
import { inTime, isOutage, type Sql } from "../store/postgres.ts";
import type { DecidedStar } from "./star-record.ts";
import { rowOf } from "./star-rows.ts";

/** What became of a decided star. Only `stored` may be told to anyone. */
export type CommitOutcome =
  | {
      readonly kind: "stored";
      /** The target's counter after the commit. */
      readonly totalVotes: number;
      /** The reply its idempotency key keeps, when the commit had to be looked up. */
      readonly keptReply?: string | null;
    }
  /** Another star of the wallet was accepted since: load again and decide again. */
  | { readonly kind: "stale" }
  /** A serial was claimed, or the idempotency key bound, since: decide again with the truth. */
  | { readonly kind: "lost" }
  /** The event came under another rule since: whoever asks again is decided by that. */
  | { readonly kind: "changed" }
  /** Decided by another time than the database's: look at the clock and decide again. */
  | { readonly kind: "wrong-day" };

/** A decided star, and whoever waits to hear what became of it. */
export interface Waiting {
  readonly decided: DecidedStar;
  /** When that ends, by `performance.now()`. */
  readonly answerBy: number;
  readonly resolve: (outcome: CommitOutcome) => void;
  readonly reject: (error: Error) => void;
}

/** What a batch is sent with. */
export interface Sender {
  /** The writer's pool (`openPostgres(url, { writer: true })`). */
  readonly sql: Sql;
  /** The one clock, epoch ms. */
  readonly now: () => number;
  /** Points that each star earns (`XP_PER_STAR`); 1 when absent. */
  readonly xpPerStar?: number;
}

/** SQLSTATEs of `cast_stars`, and the classes that say "this row", not "this database". */
const LOST = "SB409";
const TOO_LATE = "SB408";
const BAD_ROW = /^2[23]/;

interface StatementError extends Error {
  readonly code?: string;
  readonly detail?: string;
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
    if (error.code === LOST) await sendWithoutLosers(sender, batch, error.detail ?? "");
    // Heard within the deadline that it has passed: nothing is stored, and the clocks differ.
    else if (isTooLate(error)) for (const each of batch) each.resolve({ kind: "wrong-day" });
    else if (isMissingPartition(error)) await sendWithPartitions(sender, batch);
    else if (BAD_ROW.test(error.code ?? "")) await bisect(sender, batch, error);
    else if (ROLLED_BACK.test(causeCode(error)) && resends < RESENDS_MAX) {
      await sendBatch(sender, batch, resends + 1);
    } else await settleUnknown(sender, batch, error);
  }
}

interface OutcomeRow {
  readonly star_id: string;
  readonly outcome: CommitOutcome["kind"];
  readonly total_votes: number | null;
}

async function castStars(
  { sql, now, xpPerStar = 1 }: Sender,
  batch: readonly Waiting[],
): Promise<ReadonlyMap<string, OutcomeRow>> {
  const turns = JSON.stringify(batch.map(({ decided }) => rowOf(decided, xpPerStar)));
  const waits = Math.max(...batch.map(({ answerBy }) => answerBy)) - performance.now();
  const notAfter = now() + Math.floor(Math.min(bounds.statementDeadlineMs, waits));
  const answer = inTime(
    sql<OutcomeRow[]>`select * from cast_stars(${turns}::text::json, ${notAfter})`,
  );
  if (failpoint) await Promise.all([failpoint("vote.commit_sent"), answer]);
  const rows = await answer;
  return new Map(rows.map((row) => [row.star_id, row]));
}

function outcomeOf(row: OutcomeRow | undefined): CommitOutcome {
  if (row === undefined) throw new Error("cast_stars left a star out");
  return row.outcome === "stored"
    ? { kind: "stored", totalVotes: row.total_votes ?? 0 }
    : { kind: row.outcome };
}

/** Serials claimed meanwhile: those stars go back to be decided again, the rest goes on. */
async function sendWithoutLosers(
  sender: Sender,
  batch: readonly Waiting[],
  detail: string,
): Promise<void> {
  const lost = new Set(detail.split("\n"));
  const rest = batch.filter(({ decided }) => !lost.has(decided.star.id));
  for (const each of batch) if (!rest.includes(each)) each.resolve({ kind: "lost" });
  // A detail that names none of ours would send the same batch for ever.
  if (rest.length < batch.length) await sendBatch(sender, rest);
  else for (const each of batch) each.resolve({ kind: "lost" });
}

function isTooLate(error: Error): boolean {
  return causeCode(error) === TOO_LATE;
}

/** The SQLSTATE behind an outage. */
function causeCode({ cause }: Error): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}

function isMissingPartition(error: StatementError): boolean {
  return error.code === "23514" && error.message.startsWith("no partition of relation");
}

async function sendWithPartitions(sender: Sender, batch: readonly Waiting[]): Promise<void> {
  try {
    const days = new Set(batch.map(({ decided }) => decided.star.day));
    for (const day of days) await inTime(ensureStarPartitions(sender.sql, day));
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
  await sendBatch(sender, batch);
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
    error instanceof RetryableError || isOutage(error)
      ? new RetryableError("UNAVAILABLE", "the database did not confirm the star", 1, error)
      : error;
  const ids = batch.map(({ decided }) => decided.star.id);
  const days = [...new Set(batch.map(({ decided }) => decided.star.day))];
  const found = await inTime(
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
