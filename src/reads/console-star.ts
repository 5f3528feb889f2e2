import type { TargetType } from "../../actors/content.ts";
import type { Day } from "../../actors/day.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import type { Publication } from "../store/publication-state.ts";
import type { CountedNft, Nft } from "./console-event.ts";
import type { StarNumbers } from "./list-stars.ts";

/** One transaction id of a star, and what became of it. */
export interface StarAttempt {
  readonly attempt: number;
  readonly transactionId: string;
  readonly reservedAt: number;
  readonly sentAt: number | null;
  readonly sends: number;
  readonly receiptStatus: string | null;
  readonly outcome: string | null;
  readonly evidence: string | null;
}

/** Everything the journal and the outbox know of one star. */
export interface StarStory
  extends Omit<StarNumbers, "heldA" | "heldB">,
    Omit<Publication, "state"> {
  readonly day: Day;
  readonly slot: number;
  readonly type: TargetType;
  readonly targetId: string;
  readonly isForeverMint: boolean;
  readonly heldA: readonly number[];
  readonly heldB: readonly number[];
  readonly holdingsReadAt: number;
  readonly limit: number;
  readonly season: string | null;
  readonly message: string;
  readonly state: string;
  readonly tries: number;
  readonly lastError: string | null;
  readonly publishedAt: number | null;
  /** Of the request that cast it; null where it was not traced. */
  readonly traceparent: string | null;
  /** Set where a recovery set the star aside: the star that was first on the ledger. It counts nowhere. */
  readonly conflictsWith: string | null;
  readonly attempts: readonly StarAttempt[];
}

/** Finds a star by its id. @param day that follows from the id: it names the partition */
export async function findStarStory(sql: Sql, id: string, day: Day): Promise<StarStory | null> {
  const [row] = await runStatement(sql<StarStory[]>`
    select id, wallet, day, slot, at, target_type as type, target_id as "targetId", is_forever_mint as "isForeverMint",
      voting_power as "votingPower", weight, base, counted_a as "countedA", bonus_b as "bonusB",
      held_a as "heldA", held_b as "heldB", holdings_read_at as "holdingsReadAt",
      allowance_limit as limit, (select name from season where season.id = season_id) as season,
      message, state, topic_id as "topicId", transaction_id as "transactionId",
      sequence_number as "sequenceNumber", consensus_timestamp as "consensusTimestamp",
      running_hash as "runningHash", tries, last_error as "lastError",
      published_at as "publishedAt", traceparent, conflicts_with as "conflictsWith",
      (select coalesce(json_agg(json_build_object('attempt', attempt, 'transactionId', transaction_id,
          'reservedAt', reserved_at, 'sentAt', sent_at, 'sends', sends, 'receiptStatus', receipt_status,
          'outcome', outcome, 'evidence', evidence) order by attempt), '[]')
        from publish_attempt where star_id = star.id) as attempts
    from (
      select star.*, null as conflicts_with, null as noted_at from star where day = ${day} and id = ${id}
      union all
      select * from star_conflict where id = ${id}) star
    join outbox on outbox.star_id = star.id`);
  return row ?? null;
}

/** Who a serial counted for, at an event and day or a forever mint. */
export interface SerialClaim extends CountedNft {
  readonly releasedAt: number | null;
  /** Set where the daily check moved the +5 on to this serial. */
  readonly anchoredAt: number | null;
}

/** All claims there ever were on NFTs a star brought to an event; each is looked up by its key. */
export async function claimsOnSerials(
  sql: Sql,
  { type, targetId: event, isForeverMint, day }: StarStory,
  held: readonly Nft[],
): Promise<readonly SerialClaim[]> {
  if (type !== "event" || held.length === 0) return [];
  const collections = held.map(({ collection }) => collection);
  const serials = held.map(({ serial }) => serial);
  const kept = isForeverMint
    ? sql`(select * from serial_claim where event_id = ${event} and collection = held.collection
            and serial = held.serial and day is null and released_at is null
          union all
          select * from serial_claim where event_id = ${event} and collection = held.collection
            and serial = held.serial and day is null and released_at is not null)`
    : sql`(select * from serial_claim where event_id = ${event} and day = ${day}
            and collection = held.collection and serial = held.serial and day is not null)`;
  return runStatement(sql<SerialClaim[]>`
    select claim.collection, claim.serial, claim.wallet, claim.star_id as "starId",
      claim.released_at as "releasedAt", claim.anchored_at as "anchoredAt"
    from unnest(${collections}::text[], ${serials}::bigint[]) as held (collection, serial)
    cross join lateral ${kept} claim
    order by claim.collection, claim.serial, claim.star_id`);
}
