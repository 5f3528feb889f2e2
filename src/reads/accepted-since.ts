import type { TargetType } from "../../actors/content.ts";
import { dayOf } from "../../actors/day.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

/** A star in numbers. */
export interface StarNumbers {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly wallet: number;
  readonly weight: number;
  readonly base: number;
  readonly countedA: number;
  readonly bonusB: number;
  /** How many it held. */
  readonly heldA: number;
  readonly heldB: number;
}

/** The columns of `star` that make `StarNumbers`; a part of a select. */
export function starNumbers(sql: Sql) {
  return sql`id, at, wallet, weight, base, counted_a as "countedA", bonus_b as "bonusB",
    cardinality(held_a) as "heldA", cardinality(held_b) as "heldB"`;
}

/** An accepted star as the live feed shows it. */
export interface AcceptedStar extends StarNumbers {
  readonly type: TargetType;
  readonly targetId: string;
}

/** What to look for since when; filters narrow it by the index they have. */
export interface SinceQuery {
  /** Epoch milliseconds, and now: the days between them name the partitions. */
  readonly since: number;
  readonly now: number;
  readonly wallet?: number | undefined;
  readonly event?: string | undefined;
  /** The newest so many. */
  readonly limit: number;
}

/**
 * Stars cast since an instant, newest first. Star ids begin with their instant, so this is a range
 * of the primary key; of the stars of one event or one wallet it is a range of their own index.
 */
export async function acceptedSince(sql: Sql, query: SinceQuery): Promise<readonly AcceptedStar[]> {
  const { since, now, wallet, event, limit } = query;
  const ofEvent = sql`target_type = 'event' and target_id = ${event ?? ""} and at >= ${since}::bigint`;
  return runStatement(sql<AcceptedStar[]>`
    select ${starNumbers(sql)}, target_type as type, target_id as "targetId"
    from star
    where day between ${dayOf(since)} and ${dayOf(now)} and id >= first_star_id(${Math.max(0, since)}::bigint)
      and ${wallet === undefined ? sql`true` : sql`wallet = ${wallet}`}
      and ${event === undefined ? sql`true` : ofEvent}
    order by ${wallet === undefined && event !== undefined ? sql`at desc` : sql`day desc`}, id desc
    limit ${limit}`);
}
