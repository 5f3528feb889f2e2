import type { TargetType } from "../../actors/content.ts";
import { instant } from "../../actors/day.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

/** How far the stars have been handed to rewards, as its holder knows it (see `reward_hand_off` in migrations/). */
export interface HandOff {
  /** Redis has accepted every star up to this number of the journal. */
  readonly offeredSeq: number;
  /** Up to here no job is left to finish. */
  readonly finishedSeq: number;
  /** What Redis must remember, else it may have forgotten jobs. */
  readonly queueMemory: string | null;
}

/** A star as rewards get it (contract, section 5): nothing but public facts. */
export interface StarOffer {
  readonly starId: string;
  /** `0.0.n`. */
  readonly wallet: string;
  readonly target: { readonly type: TargetType; readonly id: string };
  /** RFC 3339, UTC, with milliseconds. */
  readonly at: string;
  /** UTC day, `2026-11-20`. */
  readonly day: string;
}

export interface PlacedOffer {
  readonly seq: number;
  readonly offer: StarOffer;
}

/** Far longer than a round takes; a worker that died holds the others back no longer. */
const LEASE_MS = 15_000;

/**
 * Takes the hand-off for one round.
 *
 * @param holder names this worker among all
 * @returns null while another worker has it; this one does not wait
 */
export async function takeHandOff(sql: Sql, holder: string): Promise<HandOff | null> {
  const rows = await runStatement(sql<HandOff[]>`
    with free as (
      select is_only from reward_hand_off
      -- Further ahead than it can be: dated by a clock that has gone back since.
      where lease_owner = ${holder} or lease_until not between now_ms() and now_ms() + ${LEASE_MS}
      for update skip locked
    )
    update reward_hand_off set lease_owner = ${holder}, lease_until = now_ms() + ${LEASE_MS}
    from free where reward_hand_off.is_only = free.is_only
    returning offered_seq as "offeredSeq", finished_seq as "finishedSeq", queue_memory as "queueMemory"`);
  return rows[0] ?? null;
}

/**
 * Notes how far the hand-off is and gives it back; nothing happens when it was taken over
 * meanwhile, or went back with the journal.
 *
 * @returns whether it was still ours
 */
export async function noteHandOff(
  sql: Sql,
  holder: string,
  taken: HandOff,
  reached: HandOff,
): Promise<boolean> {
  const rows = await runStatement(sql`
    update reward_hand_off set offered_seq = ${reached.offeredSeq},
      finished_seq = ${reached.finishedSeq}, queue_memory = ${reached.queueMemory},
      lease_owner = null, lease_until = 0
    where lease_owner = ${holder} and offered_seq = ${taken.offeredSeq} returning true`);
  return rows.length > 0;
}

/** How far the hand-off is, as Postgres knows it. */
export async function offeredUpTo(sql: Sql): Promise<number> {
  const [row] = await runStatement(sql<[{ offeredSeq: number }]>`
    select offered_seq as "offeredSeq" from reward_hand_off`);
  return row.offeredSeq;
}

/** Stars of the journal after one number and up to another, in its order. */
export async function offersBetween(
  sql: Sql,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): Promise<readonly PlacedOffer[]> {
  const rows = await runStatement(sql<(OfferRow & { readonly seq: number })[]>`
    select ${offerColumns(sql)}, seq from star
    where seq > ${after} and seq <= ${upTo} order by seq limit ${limit}`);
  return rows.map(({ seq, ...row }) => ({ seq, offer: offerOf(row) }));
}

/** Stars of a UTC day after an id, in the order of their ids. */
export async function offersOfDay(
  sql: Sql,
  { day, after, limit }: { readonly day: string; readonly after: string; readonly limit: number },
): Promise<readonly StarOffer[]> {
  const rows = await runStatement(sql<OfferRow[]>`
    select ${offerColumns(sql)} from star
    where day = ${day} and id > ${after} order by id limit ${limit}`);
  return rows.map(offerOf);
}

/** Every page of the console asks, and a hand-off that never was leaves the whole journal to count. */
const COUNTED_MAX = 100_000;

export interface PendingRewards {
  /** Counted up to 100,000. */
  readonly pending: number;
  /** Age of the oldest of them; null when there is none. */
  readonly oldestPendingSeconds: number | null;
  /** Whether any hand-off has taken place: where no Redis is fit for BullMQ, none does. */
  readonly isStarted: boolean;
}

export async function pendingRewards(sql: Sql): Promise<PendingRewards> {
  const [row] = await runStatement(sql<
    [Omit<PendingRewards, "oldestPendingSeconds"> & { age: number | null }]
  >`
    select
      (select count(*) from (select from star where seq > offered_seq limit ${COUNTED_MAX}) as waiting)
        as pending,
      (select now_ms() - at from star where seq > offered_seq order by seq limit 1) as age,
      queue_memory is not null as "isStarted"
    from reward_hand_off`);
  const { age, ...rest } = row;
  return { ...rest, oldestPendingSeconds: age === null ? null : Math.max(0, age) / 1_000 };
}

interface OfferRow extends Omit<StarOffer, "at"> {
  readonly at: number;
}

function offerColumns(sql: Sql) {
  return sql`id as "starId", '0.0.' || wallet as wallet,
    json_build_object('type', target_type, 'id', target_id) as target, at, day`;
}

function offerOf(row: OfferRow): StarOffer {
  return { ...row, at: instant(row.at) };
}
