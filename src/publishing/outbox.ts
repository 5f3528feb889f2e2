import { bounds } from "../bounds.ts";
import type { KnownDatabase } from "../store/database-identity.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { type Attempt, type SharedSteps, shareSteps } from "./shared-steps.ts";

/**
 * The queue of stars to publish is the table `outbox` itself. A publisher works only on rows it has
 * leased; every function here is one statement, or a star's part of one, and throws RetryableError
 * `UNAVAILABLE` when Postgres is out of reach.
 */
export interface Outbox {
  readonly sql: Sql;
  /** Names this publisher among all there ever are. */
  readonly holder: string;
  readonly leaseMs: number;
  /** Takes the steps of this holder's stars. */
  readonly steps: SharedSteps;
  /** Where the topics were read: stars of any other database are neither leased nor sent. */
  readonly database: KnownDatabase;
}

/** The outbox as one publisher works on it, before it knows the database. */
export function openOutbox(
  sql: Sql,
  { holder, leaseMs }: Pick<Outbox, "holder" | "leaseMs">,
): Omit<Outbox, "database"> {
  return { sql, holder, leaseMs, steps: shareSteps(sql, holder) };
}

/** A star to publish, until the lease runs out. */
export interface LeasedStar {
  readonly starId: string;
  readonly topic: "event" | "asset";
  readonly message: string;
  readonly tries: number;
  /** The trace of the request that cast it; null where none was made. */
  readonly traceparent: string | null;
  readonly attempt: Attempt | null;
}

/**
 * Takes up the oldest stars of a topic that are due. Rows whose holder let its lease run out
 * are due again, and so are this holder's own that it no longer works on. A time further ahead
 * than any that is written was written before Postgres' clock was set back, and holds nothing up.
 *
 * @param asked.working stars this holder works on now
 * @param asked.since stars accepted earlier are left alone, epoch milliseconds
 */
export async function leaseStars(
  { sql, holder, leaseMs, database }: Outbox,
  asked: {
    readonly topic: LeasedStar["topic"];
    readonly limit: number;
    readonly working: readonly string[];
    readonly since?: number;
  },
): Promise<readonly LeasedStar[]> {
  const rows = await runStatement(sql<StarRow[]>`
    with due as (
      select star_id from outbox
      where state <> 'published' and topic = ${asked.topic}
        and next_try_at not between now_ms() + 1 and now_ms() + ${bounds.publishDelayMsMax}::bigint
        and (lease_until not between now_ms() + 1 and now_ms() + ${leaseMs}::bigint
          or lease_owner = ${holder})
        and star_id <> all (${[...asked.working]}::uuid[])
        and star_id >= first_star_id(${asked.since ?? 0}::bigint)
        and (select is_known_database(${database.identity}, ${database.epoch ?? null}))
      order by star_id limit ${asked.limit} for update skip locked
    ), leased as (
      update outbox set lease_owner = ${holder}, lease_until = now_ms() + ${leaseMs}
      from due where outbox.star_id = due.star_id
      returning outbox.star_id, outbox.topic, outbox.message, outbox.tries, outbox.traceparent
    )
    select leased.star_id as "starId", topic, message, tries, traceparent,
      attempt.topic_id as "topicId", transaction_id as "transactionId",
      valid_start_ns::text as "validStart", valid_until_ns::text as "validUntil",
      signed_bytes as bytes, sends, refusals, receipt_status as status,
      receipt_sequence as "sequenceNumber", absence_rounds as "absenceRounds"
    from leased left join publish_attempt attempt
      on attempt.star_id = leased.star_id and attempt.closed_at is null
    order by leased.star_id`);
  return rows.map(readStar);
}

export async function releaseAllLeases({
  sql,
  holder,
}: Pick<Outbox, "sql" | "holder">): Promise<void> {
  await runStatement(sql`
    update outbox set lease_owner = null, lease_until = 0
    where star_id in (
      select star_id from outbox where lease_owner = ${holder} and state <> 'published'
      order by star_id for update skip locked)`);
}

/** Whether a star, by whichever worker, took effect on a topic after an instant of the ledger's, nanoseconds. */
export async function tookEffectAfter(
  sql: Sql,
  topicId: string,
  instant: bigint,
): Promise<boolean> {
  const [row] = await runStatement(sql<{ took: boolean }[]>`
    select consensus_timestamp::numeric * 1000000000 > ${String(instant)}::numeric as took
    from outbox where topic_id = ${topicId} and state = 'published'
    order by sequence_number desc limit 1`);
  return row?.took ?? false;
}

/** What the stars on a topic are for, by its first one; undefined where none is on it. */
export async function findStarred(
  sql: Sql,
  topicId: string,
): Promise<LeasedStar["topic"] | undefined> {
  const [row] = await sql<{ topic: LeasedStar["topic"] }[]>`
    select topic from outbox where topic_id = ${topicId} and state = 'published'
    order by sequence_number limit 1`;
  return row?.topic;
}

export interface PendingPublications {
  /** Accepted stars not yet `published`. */
  readonly pending: number;
  /** Age of the oldest of them; null when there is none. */
  readonly oldestPendingSeconds: number | null;
}

export async function pendingPublications(sql: Sql): Promise<PendingPublications> {
  // Ids are ordered by acceptance, and each message carries its star's instant.
  const [{ pending, age }] = await runStatement(sql<[{ pending: number; age: number | null }]>`
    select count(*) as pending, (
      select now_ms() - (message::json->>'timestamp')::bigint from outbox
      where state <> 'published' order by star_id limit 1) as age
    from outbox where state <> 'published'`);
  return { pending, oldestPendingSeconds: age === null ? null : Math.max(0, age) / 1_000 };
}

interface StarRow
  extends Omit<LeasedStar, "attempt">,
    Pick<Attempt, "topicId" | "sends" | "refusals" | "absenceRounds"> {
  /** Null when the star has no open attempt; so is the rest then. */
  readonly transactionId: string | null;
  readonly validStart: string;
  readonly validUntil: string | null;
  readonly bytes: Uint8Array | null;
  readonly status: string | null;
  readonly sequenceNumber: number | null;
}

function readStar({ starId, topic, message, tries, traceparent, ...row }: StarRow): LeasedStar {
  const star = { starId, topic, message, tries, traceparent };
  const { transactionId, validStart, validUntil, bytes, status, sequenceNumber, ...kept } = row;
  if (transactionId === null) return { ...star, attempt: null };
  const attempt: Attempt = {
    ...kept,
    starId,
    transactionId,
    validStart: BigInt(validStart),
    signed: bytes && validUntil ? { bytes, validUntil: BigInt(validUntil) } : null,
    receipt: status === null ? null : { status, sequenceNumber },
  };
  return { ...star, attempt };
}

/** What re-driving a star did. */
export type Redriven =
  /** It is due now; the next worker that looks takes it up where it stands. */
  | { readonly kind: "due"; readonly state: string; readonly lastError: string | null }
  /** A worker has it in hand until then, epoch ms; and when it is due after that, the worker says. */
  | { readonly kind: "in hand"; readonly leaseUntil: number }
  | { readonly kind: "published" }
  | { readonly kind: "unknown" };

/**
 * Takes up a star again that waits for its next try: its delay is over now. That is all it
 * does. Its transaction id, its bytes and its state stay, so what was sent is asked for and
 * never sent again under another id; a publisher that has it leased keeps it.
 *
 * @param wake wakes the workers
 */
export async function redriveStar(
  { sql, wake }: { readonly sql: Sql; readonly wake: () => void },
  starId: string,
): Promise<Redriven> {
  const [row] = await runStatement(sql<WaitingRow[]>`
    with due as (
      -- One that is due already is left alone: a lock on it would keep workers from it.
      update outbox set next_try_at = 0
      where star_id = ${starId} and state <> 'published' and next_try_at > now_ms()
      returning star_id
    )
    select state, lease_until as "leaseUntil", last_error as "lastError",
      lease_owner is not null and lease_until > now_ms() as "isInHand"
    from outbox where star_id = ${starId}`);
  if (row === undefined) return { kind: "unknown" };
  if (row.state === "published") return { kind: "published" };
  wake();
  const { state, lastError, leaseUntil } = row;
  return row.isInHand ? { kind: "in hand", leaseUntil } : { kind: "due", state, lastError };
}

interface WaitingRow {
  readonly state: string;
  readonly leaseUntil: number;
  readonly lastError: string | null;
  readonly isInHand: boolean;
}
