import { runStatement } from "../store/postgres.ts";
import type { Outbox } from "./outbox.ts";
import type { Attempt, Reservation, StepReceipt } from "./shared-steps.ts";

/**
 * Why an attempt is given up. Each is a proof that its message is not on the topic and
 * never will be:
 * - `never sent`, `refused`: the bytes never left this service (checked against the counts)
 * - `failed`: it reached consensus and had no effect
 * - `foreign`: somebody else's transaction took effect under its id
 * - `absent`: its time is over, and the topic was read without it (`prove-absence.ts`)
 */
export type GivenUp = "never sent" | "refused" | "failed" | "foreign" | "absent";

/** Another worker has the star by now, or it is settled; nothing was written. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/**
 * Each function below is one statement, or its star's part of one (`shared-steps.ts`). It writes
 * a step before the next one is taken, and only while the lease holds; else it throws LeaseLost.
 * It names the transaction and not the attempt's number: in an older copy of the journal the same
 * number may be another transaction. RetryableError `UNAVAILABLE` means that the step may or may
 * not be written: the star is leased again and continues from what the journal says.
 */

/** Gives a pending star its next id, dated at `notBefore` or just after. */
export async function reserveId(
  { steps }: Outbox,
  starId: string,
  by: Omit<Reservation, "starId">,
): Promise<Attempt> {
  const row = only(await steps.reserve({ starId, ...by }), starId);
  return {
    starId,
    topicId: by.topicId,
    transactionId: row.transaction_id,
    validStart: BigInt(row.valid_start),
    signed: null,
    sends: 0,
    refusals: 0,
    receipt: null,
    absenceRounds: 0,
  };
}

/** Keeps the bytes before anyone can have seen them. */
export async function storeSigned(
  { steps }: Outbox,
  attempt: Attempt,
  signed: NonNullable<Attempt["signed"]>,
): Promise<Attempt> {
  only(await steps.storeSigned({ attempt, signed }), attempt.starId);
  return { ...attempt, signed };
}

/**
 * Written before each sending: from here on the message may be on its way. So this is where the
 * database must still be the one whose topics were read.
 */
export async function countSend({ steps, database }: Outbox, attempt: Attempt): Promise<Attempt> {
  const { sends, refusals } = only(await steps.countSend({ attempt, database }), attempt.starId);
  return { ...attempt, sends, refusals };
}

/**
 * Written after a sending that a node did not pass on, for certain; true under any lease. An older
 * copy of the journal may not know that sending: there it would stand for another one, whose fate
 * is open.
 */
export async function countRefusal({ sql }: Outbox, attempt: Attempt): Promise<Attempt> {
  const rows = await runStatement(sql<{ sends: number; refusals: number }[]>`
    update publish_attempt set refusals = refusals + 1
    where star_id = ${attempt.starId} and transaction_id = ${attempt.transactionId} and closed_at is null
      and sends >= ${attempt.sends}
    returning sends, refusals`);
  return { ...attempt, ...only(rows[0], attempt.starId) };
}

/** What the nodes said; true under any lease. */
export async function storeReceipt(
  { steps }: Outbox,
  attempt: Attempt,
  receipt: StepReceipt,
): Promise<Attempt> {
  only(await steps.storeReceipt({ attempt, receipt }), attempt.starId);
  const { status, sequenceNumber } = receipt;
  return { ...attempt, receipt: { status, sequenceNumber } };
}

/**
 * Counts a round, unless the last one was too short a while ago. One that lies ahead is of before
 * Postgres' clock was set back, and how long ago is not known: it is dated anew.
 *
 * @returns the rounds so far
 */
export async function countAbsence(
  { sql }: Outbox,
  attempt: Attempt,
  apartMs: number,
): Promise<number> {
  const rows = await runStatement(sql<{ rounds: number }[]>`
    update publish_attempt set absence_at = now_ms(),
      absence_rounds = absence_rounds + (absence_at + ${apartMs} <= now_ms())::integer
    where star_id = ${attempt.starId} and transaction_id = ${attempt.transactionId} and closed_at is null
      and now_ms() not between absence_at and absence_at + ${apartMs} - 1
    returning absence_rounds as rounds`);
  return rows[0]?.rounds ?? attempt.absenceRounds;
}

/** How many older stars have sent something to the same topic whose fate is open. */
export async function countOlder({ sql }: Outbox, attempt: Attempt): Promise<number> {
  const [row] = await runStatement(sql<[{ older: number }]>`
    select count(*) as older from publish_attempt
    where topic_id = ${attempt.topicId} and closed_at is null and sends > 0
      and star_id < ${attempt.starId}`);
  return row.older;
}

/** Closes an attempt for good; the star is pending again and may get another id. */
export async function giveUp(
  { sql, holder }: Outbox,
  attempt: Attempt,
  { outcome, evidence }: { readonly outcome: GivenUp; readonly evidence: string },
): Promise<void> {
  const onlyUnsent = outcome === "never sent" || outcome === "refused";
  const rows = await runStatement(sql`
    with mine as (
      update outbox set state = 'pending', topic_id = null, transaction_id = null
      where star_id = ${attempt.starId} and state in ('reserved', 'signed', 'sent')
        and lease_owner = ${holder} and lease_until > now_ms()
        and exists (select from publish_attempt known
          where known.star_id = ${attempt.starId} and known.transaction_id = ${attempt.transactionId}
            and known.closed_at is null and (not ${onlyUnsent} or known.sends = known.refusals))
      returning star_id
    )
    update publish_attempt set closed_at = now_ms(), signed_bytes = null,
      outcome = ${outcome}, evidence = ${evidence}
    from mine where publish_attempt.star_id = mine.star_id
      and transaction_id = ${attempt.transactionId} and closed_at is null
    returning attempt`);
  only(rows[0], attempt.starId);
}

function only<Row>(row: Row | undefined, starId: string): Row {
  if (row === undefined) throw new LeaseLost(`star ${starId}`);
  return row;
}
