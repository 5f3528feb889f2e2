import { batcher } from "../batcher.ts";
import { RetryableError } from "../errors.ts";
import type { KnownDatabase } from "../store/database-identity.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

/**
 * The steps of all stars in hand, many stars in one statement and one commit. A step returns when
 * it is committed, so what is written is written before it is acted on, as if each star had a
 * statement of its own. It returns undefined where nothing was written for the star: the lease is
 * lost, or the star is settled. RetryableError `UNAVAILABLE` when Postgres is out of reach.
 *
 * Every statement locks its rows of `outbox` first, in the order of the stars, and so does
 * `read_topic_on`: two of them cannot deadlock.
 */
export interface SharedSteps {
  readonly reserve: Step<Reservation, ReservedRow>;
  readonly storeSigned: Step<OfAttempt & { readonly signed: NonNullable<Attempt["signed"]> }, Row>;
  readonly countSend: Step<OfAttempt & { readonly database: KnownDatabase }, CountedRow>;
  readonly storeReceipt: Step<OfAttempt & { readonly receipt: StepReceipt }, Row>;
  /** The star is due again after the delay. Nothing happens where another holder has it. */
  readonly release: Step<Release, Row>;
}

type Step<Given, Found extends Row> = (given: Given) => Promise<Found | undefined>;

interface OfAttempt {
  readonly attempt: Attempt;
}

export interface Reservation {
  readonly starId: string;
  readonly payer: string;
  readonly topicId: string;
  /** Nanoseconds since the epoch. */
  readonly notBefore: bigint;
}

export type StepReceipt = NonNullable<Attempt["receipt"]> & {
  /** Base64. */
  readonly runningHash: string | null;
};

export interface Release {
  readonly starId: string;
  readonly delayMs: number;
  /** What went wrong; null when nothing did. */
  readonly why: string | null;
}

interface Row {
  readonly star_id: string;
}
interface ReservedRow extends Row {
  readonly valid_start: string;
  readonly transaction_id: string;
}
interface CountedRow extends Row {
  readonly sends: number;
  readonly refusals: number;
}

/** One statement of a step under way: what is asked for meanwhile goes in the next one. */
const SHARED = { keysMax: 256, callsMax: 1 };

/** @param holder whose leases the steps are taken under */
export function shareSteps(sql: Sql, holder: string): SharedSteps {
  return {
    reserve: shared((given: readonly Reservation[]) => {
      const rows = given.map(({ starId, payer, topicId, notBefore }) => ({
        star_id: starId,
        payer,
        topic_id: topicId,
        not_before: String(notBefore),
      }));
      return sql<ReservedRow[]>`
        select star_id, valid_start_ns::text as valid_start, transaction_id
        from reserve_transactions(${JSON.stringify(rows)}::text::json, ${holder})`;
    }),
    storeSigned: shared((given) => {
      const rows = given.map(({ attempt, signed }) => ({
        ...keyOf(attempt),
        bytes: Buffer.from(signed.bytes).toString("base64"),
        valid_until: String(signed.validUntil),
      }));
      return sql<Row[]>`
        with given as materialized (
          select * from json_to_recordset(${JSON.stringify(rows)}::text::json)
            as given (star_id uuid, transaction_id text, bytes text, valid_until bigint)
        ), locked as materialized (
          select star_id from outbox join given using (star_id)
          where state = 'reserved' and outbox.transaction_id = given.transaction_id
            and lease_owner = ${holder} and lease_until > now_ms()
          order by star_id for update of outbox
        ), mine as (
          update outbox set state = 'signed' from locked where outbox.star_id = locked.star_id
          returning outbox.star_id
        )
        update publish_attempt set signed_bytes = decode(given.bytes, 'base64'),
          valid_until_ns = given.valid_until
        from mine join given using (star_id)
        where publish_attempt.star_id = mine.star_id
          and publish_attempt.transaction_id = given.transaction_id and closed_at is null
        returning publish_attempt.star_id`;
    }),
    countSend: shared((given) => {
      const rows = given.map(({ attempt, database }) => ({
        ...keyOf(attempt),
        identity: database.identity,
        epoch: database.epoch ?? null,
      }));
      return sql<CountedRow[]>`
        with given as materialized (
          select * from json_to_recordset(${JSON.stringify(rows)}::text::json)
            as given (star_id uuid, transaction_id text, identity text, epoch uuid)
        ), known as materialized (
          select * from (select distinct identity, epoch from given) as named
          where is_known_database(identity, epoch)
        ), locked as materialized (
          select star_id from outbox join given using (star_id) join known using (identity, epoch)
          where state in ('signed', 'sent') and outbox.transaction_id = given.transaction_id
            and lease_owner = ${holder} and lease_until > now_ms()
          order by star_id for update of outbox
        ), mine as (
          update outbox set state = 'sent', submitted_at = coalesce(submitted_at, now_ms())
          from locked where outbox.star_id = locked.star_id
          returning outbox.star_id
        )
        update publish_attempt set sends = sends + 1, sent_at = coalesce(sent_at, now_ms())
        from mine join given using (star_id)
        where publish_attempt.star_id = mine.star_id
          and publish_attempt.transaction_id = given.transaction_id and closed_at is null
        returning publish_attempt.star_id, sends, refusals`;
    }),
    storeReceipt: shared((given) => {
      const rows = given.map(({ attempt, receipt }) => ({
        ...keyOf(attempt),
        status: receipt.status,
        sequence: receipt.sequenceNumber,
        hash: receipt.runningHash,
      }));
      return sql<Row[]>`
        with given as materialized (
          select * from json_to_recordset(${JSON.stringify(rows)}::text::json)
            as given (star_id uuid, transaction_id text, status text, sequence bigint, hash text)
        ), locked as materialized (
          select star_id from outbox join given using (star_id) order by star_id for update of outbox
        )
        update publish_attempt set receipt_status = given.status,
          receipt_sequence = given.sequence, receipt_hash = given.hash
        from locked join given using (star_id)
        where publish_attempt.star_id = locked.star_id
          and publish_attempt.transaction_id = given.transaction_id
          and closed_at is null and receipt_status is null
        returning publish_attempt.star_id`;
    }),
    release: shared((given: readonly Release[]) => {
      const rows = given.map(({ starId, delayMs, why }) => ({
        star_id: starId,
        delay_ms: Math.ceil(delayMs),
        why,
      }));
      return sql<Row[]>`
        with given as materialized (
          select * from json_to_recordset(${JSON.stringify(rows)}::text::json)
            as given (star_id uuid, delay_ms bigint, why text)
        ), locked as materialized (
          select star_id from outbox join given using (star_id)
          where lease_owner = ${holder} and state <> 'published'
          order by star_id for update of outbox
        )
        update outbox set lease_owner = null, lease_until = 0,
          tries = tries + (given.why is not null)::integer,
          next_try_at = now_ms() + given.delay_ms, last_error = given.why
        from locked join given using (star_id) where outbox.star_id = locked.star_id
        returning outbox.star_id`;
    }),
  };
}

function keyOf({ starId, transactionId }: Attempt) {
  return { star_id: starId, transaction_id: transactionId };
}

/**
 * A step whose stars share a statement. A star that Postgres refuses fails alone: the statement has
 * written nothing then, and each star gets one of its own.
 */
function shared<Given extends { readonly starId: string } | OfAttempt, Found extends Row>(
  statement: (given: readonly Given[]) => PromiseLike<readonly Found[]>,
): Step<Given, Found> {
  const take = async (given: readonly Given[]): Promise<readonly (Found | undefined)[]> => {
    const rows = new Map(
      (await runStatement(statement(given))).map((row) => [row.star_id, row] as const),
    );
    return given.map((one) => rows.get("attempt" in one ? one.attempt.starId : one.starId));
  };
  return batcher<Given, Found | undefined>(async (given) => {
    try {
      return await take(given);
    } catch (error) {
      if (error instanceof RetryableError || given.length === 1) throw error;
      return given.map(async (one) => (await take([one]))[0]);
    }
  }, SHARED);
}

/** An open transaction id of a star, and what is known of its fate. */
export interface Attempt {
  readonly starId: string;
  readonly topicId: string;
  /** `0.0.n@s.nnnnnnnnn` */
  readonly transactionId: string;
  /** Nanoseconds since the epoch, by the ledger's time. */
  readonly validStart: bigint;
  /** The only bytes that may be sent, and when they stop being valid (as `validStart`). */
  readonly signed: { readonly bytes: Uint8Array; readonly validUntil: bigint } | null;
  /** Counted before each sending; `refusals` after each that certainly had no effect. */
  readonly sends: number;
  readonly refusals: number;
  readonly receipt: Receipt | null;
  /** Rounds in which a quiet topic was found without the message. */
  readonly absenceRounds: number;
}

/** What the consensus nodes said of a transaction. */
interface Receipt {
  readonly status: string;
  readonly sequenceNumber: number | null;
}
