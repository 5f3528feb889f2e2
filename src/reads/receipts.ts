import type { Target, TargetType } from "../../actors/content.ts";
import type { Day } from "../../actors/day.ts";
import type { Breakdown } from "../../actors/weight.ts";
import { bounds } from "../bounds.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { type Publication, publicationColumn } from "../store/publication-state.ts";

export type { Publication };

/** What every star has before its message is on its way. */
export const NOT_SUBMITTED: Publication = {
  state: "stored",
  topicId: null,
  transactionId: null,
  sequenceNumber: null,
  consensusTimestamp: null,
  runningHash: null,
};

/** A star as anyone may see it: it is public on the ledger anyway. */
export interface StarReceipt {
  readonly id: string;
  readonly wallet: string;
  readonly target: { readonly type: TargetType; readonly id: string };
  readonly at: number;
  readonly day: Day;
  readonly votingPower: number;
  readonly weight: number;
  readonly breakdown: Breakdown;
  readonly holdings: { readonly collectionA: number; readonly collectionB: number };
  readonly publication: Publication;
}

/**
 * Reads one star with its publication.
 *
 * @param day the star's day, which follows from its id (`dayOfStarId`): it names the partition
 */
export async function findReceipt(sql: Sql, id: string, day: Day): Promise<StarReceipt | null> {
  const [row] = await runStatement(
    // A star that a recovery set aside counts nowhere and keeps its receipt.
    sql<StarReceipt[]>`
      select ${columns(sql)} from star join outbox on star_id = id where day = ${day} and id = ${id}
      union all
      select ${columns(sql)} from star_conflict join outbox on star_id = id where id = ${id}`,
  );
  return row ?? null;
}

/** The stars of one wallet and UTC day, newest first (at most 20). */
export async function receiptsOfDay(
  sql: Sql,
  account: number,
  day: Day,
): Promise<readonly StarReceipt[]> {
  return await runStatement(
    sql<StarReceipt[]>`
      select ${columns(sql)} from star join outbox on star_id = id
      where day = ${day} and wallet = ${account} order by slot desc`,
  );
}

/** The text that a star has on the ledger, or will have; undefined where there is no such star. */
export async function readStarMessage(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await runStatement(
    sql<{ message: string }[]>`select message from outbox where star_id = ${id}`,
    bounds.readDeadlineMs,
  );
  return row?.message;
}

/** The UTC day of a wallet's last star on a target; null before the first. */
export async function lastStarredDay(
  sql: Sql,
  account: number,
  { type, id, rule }: Target,
): Promise<Day | null> {
  // A mint keeps its stars by wallet; of other items a wallet has one star a day.
  const [row] = await runStatement(
    rule.scope === "forever-mint"
      ? sql<{ day: Day }[]>`
          select day from mint_star where event_id = ${id} and wallet = ${account}
          order by seq desc limit 1`
      : sql<{ day: Day }[]>`
          select day from star
          where wallet = ${account} and target_type = ${type} and target_id = ${id}
          order by day desc limit 1`,
  );
  return row?.day ?? null;
}

function columns(sql: Sql) {
  return sql`id, '0.0.' || wallet as wallet, json_build_object('type', target_type, 'id', target_id) as target,
    at, day, voting_power as "votingPower", weight,
    json_build_object('base', base, 'collectionA', counted_a, 'collectionB', bonus_b) as breakdown,
    json_build_object('collectionA', cardinality(held_a), 'collectionB', cardinality(held_b)) as holdings,
    ${publicationColumn(sql)}`;
}
