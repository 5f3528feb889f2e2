import { ruleOf } from "../../actors/content.ts";
import { bounds } from "../config.ts";
import { coerceError, RetryableError } from "../errors.ts";
import { ensureStarPartitions } from "../store/migrate.ts";
import { inTime, isOutage, type Sql } from "../store/postgres.ts";
import { accountNumber, type DecidedStar } from "./star-record.ts";

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
  /** Decided for another UTC day than the database's: look at the clock and decide again. */
  | { readonly kind: "wrong-day" };

/** Writes decided stars, many per commit. */
export interface GroupCommit {
  /**
   * @throws RetryableError `UNAVAILABLE` when the queue is full, or when the database did not
   *   answer and the star was not found either; the star may then still come to stand
   */
  commit(decided: DecidedStar): Promise<CommitOutcome>;
  /** Resolves when nothing is waiting or in flight. */
  settled(): Promise<void>;
}

export interface GroupCommitOptions {
  /** The writer's pool (`openPostgres(url, { writer: true })`). */
  readonly sql: Sql;
  /** The one clock, epoch ms. */
  readonly now: () => number;
  readonly onBatch?: (stars: number) => void;
}

interface Waiting {
  readonly decided: DecidedStar;
  readonly resolve: (outcome: CommitOutcome) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Up to 128 stars share one statement and one commit, two of them in flight: ten times the
 * throughput of a commit per star, and a reply leaves only after its commit.
 *
 * A batch does not share fate: a star that lost a serial, and a row the database refuses, are
 * parted from it and the rest is sent again.
 */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const waiting: Waiting[] = [];
  let flights = 0;
  let idle: (() => void)[] = [];

  const takeOff = (): void => {
    while (waiting.length > 0 && flights < bounds.commitFlightsMax) {
      const batch = waiting.splice(0, bounds.commitBatchMax);
      flights += 1;
      void send(options, batch).finally(() => {
        flights -= 1;
        takeOff();
      });
    }
    if (flights === 0 && waiting.length === 0) {
      for (const resolve of idle) resolve();
      idle = [];
    }
  };

  return {
    commit: (decided) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= bounds.turnsWaitingMax) {
          reject(new RetryableError("UNAVAILABLE", "too many stars are waiting"));
          return;
        }
        waiting.push({ decided, resolve, reject });
        // All stars decided in this tick go into one batch.
        if (waiting.length === 1) setImmediate(takeOff);
      }),
    settled: () =>
      new Promise((resolve) => {
        idle.push(resolve);
        setImmediate(takeOff);
      }),
  };
}

/** SQLSTATEs of `cast_stars`, and the classes that say "this row", not "this database". */
const LOST = "SB409";
const BAD_ROW = /^2[23]/;

interface StatementError extends Error {
  readonly code?: string;
  readonly detail?: string;
}

/** Sends a batch and settles every star of it. Never rejects. */
async function send(options: GroupCommitOptions, batch: readonly Waiting[]): Promise<void> {
  if (batch.length === 0) return;
  try {
    options.onBatch?.(batch.length);
    const rows = await castStars(options, batch);
    for (const each of batch) each.resolve(outcomeOf(rows.get(each.decided.star.id)));
  } catch (thrown) {
    const error: StatementError = coerceError(thrown);
    if (error.code === LOST) await sendWithoutLosers(options, batch, error.detail ?? "");
    else if (isMissingPartition(error)) await sendWithPartitions(options, batch);
    else if (BAD_ROW.test(error.code ?? "")) await bisect(options, batch, error);
    else await settleUnknown(options, batch, error);
  }
}

interface OutcomeRow {
  readonly star_id: string;
  readonly outcome: CommitOutcome["kind"];
  readonly total_votes: number | null;
}

async function castStars(
  { sql, now }: GroupCommitOptions,
  batch: readonly Waiting[],
): Promise<ReadonlyMap<string, OutcomeRow>> {
  const turns = JSON.stringify(batch.map(({ decided }) => rowOf(decided)));
  const notAfter = now() + bounds.statementDeadlineMs;
  const rows = await inTime(
    sql<OutcomeRow[]>`select * from cast_stars(${turns}::text::json, ${notAfter})`,
  );
  return new Map(rows.map((row) => [row.star_id, row]));
}

function outcomeOf(row: OutcomeRow | undefined): CommitOutcome {
  if (row === undefined) throw new Error("cast_stars left a star out");
  return row.outcome === "stored"
    ? { kind: "stored", totalVotes: row.total_votes ?? 0 }
    : { kind: row.outcome };
}

/** One element of `cast_stars`' JSON array; names are the columns'. */
function rowOf({ star, claims, message, idempotency }: DecidedStar): Record<string, unknown> {
  const rule = ruleOf(star.target);
  return {
    id: star.id,
    day: star.day,
    wallet: accountNumber(star.wallet),
    slot: star.slot,
    at: star.at,
    target_type: star.target.type,
    target_id: star.target.id,
    repeatable: rule.frequency === "once",
    voting_power: star.votingPower,
    weight: star.weight,
    base: star.breakdown.base,
    counted_a: star.breakdown.collectionA,
    bonus_b: star.breakdown.collectionB,
    held_a: star.holdings.collectionA,
    held_b: star.holdings.collectionB,
    holdings_read_at: star.holdings.readAt,
    allowance_limit: star.limit,
    season_id: star.seasonId,
    topic: rule.topic,
    message,
    claims: claimRows({ star, claims }),
    ...(idempotency && {
      idempotency: {
        key: idempotency.key,
        request_hash: idempotency.requestHash,
        reply_head: idempotency.replyHead,
        reply_tail: idempotency.replyTail,
      },
    }),
  };
}

function claimRows({ star, claims }: Pick<DecidedStar, "star" | "claims">): object[] {
  if (claims === null) return [];
  const onMint = ruleOf(star.target).weight === "each NFT once per mint";
  return [
    // On a mint the base counts once per wallet, so it is claimed like a serial.
    ...(onMint && star.breakdown.base === 1
      ? [{ collection: "base", serial: accountNumber(star.wallet) }]
      : []),
    ...claims.a.map((serial) => ({ collection: "A", serial })),
    ...(claims.b === null ? [] : [{ collection: "B", serial: claims.b }]),
  ];
}

/** Serials claimed meanwhile: those stars go back to be decided again, the rest goes on. */
async function sendWithoutLosers(
  options: GroupCommitOptions,
  batch: readonly Waiting[],
  detail: string,
): Promise<void> {
  const lost = new Set(detail.split("\n"));
  const rest = batch.filter(({ decided }) => !lost.has(decided.star.id));
  for (const each of batch) if (!rest.includes(each)) each.resolve({ kind: "lost" });
  // A detail that names none of ours would send the same batch for ever.
  if (rest.length < batch.length) await send(options, rest);
  else for (const each of batch) each.resolve({ kind: "lost" });
}

function isMissingPartition(error: StatementError): boolean {
  return error.code === "23514" && error.message.startsWith("no partition of relation");
}

async function sendWithPartitions(
  options: GroupCommitOptions,
  batch: readonly Waiting[],
): Promise<void> {
  try {
    const days = new Set(batch.map(({ decided }) => decided.star.day));
    for (const day of days) await inTime(ensureStarPartitions(options.sql, day));
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
  await send(options, batch);
}

/** One bad row fails alone: halve until it is found. */
async function bisect(
  options: GroupCommitOptions,
  batch: readonly Waiting[],
  error: Error,
): Promise<void> {
  const [only] = batch;
  if (batch.length <= 1) {
    only?.reject(error);
    return;
  }
  const middle = Math.ceil(batch.length / 2);
  await send(options, batch.slice(0, middle));
  await send(options, batch.slice(middle));
}

/**
 * The answer was lost: whether the commit happened must be looked up, star by star. A star not
 * found is a 503, never decided again here: its statement may still be on its way.
 */
async function settleUnknown(
  { sql }: GroupCommitOptions,
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
