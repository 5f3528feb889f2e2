import type { TargetType } from "../../actors/content.ts";
import { type Day, dayOf } from "../../actors/day.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

export interface StarNumbers {
  readonly id: string;
  readonly at: number;
  readonly wallet: number;
  readonly votingPower: number;
  readonly weight: number;
  readonly base: number;
  readonly countedA: number;
  readonly bonusB: number;
  readonly heldA: number;
  readonly heldB: number;
}

/** The columns of `star` that make `StarNumbers`; a part of a select. */
export function starNumbers(sql: Sql) {
  return sql`id, at, wallet, voting_power as "votingPower", weight, base, counted_a as "countedA",
    bonus_b as "bonusB", cardinality(held_a) as "heldA", cardinality(held_b) as "heldB"`;
}

export interface ListedStar extends StarNumbers {
  readonly type: TargetType;
  readonly targetId: string;
  readonly day: Day;
}

/** What to list; filters narrow it by the index they have, and all but the limit may be left out. */
export interface StarQuery {
  readonly wallet?: number | undefined;
  readonly event?: string | undefined;
  /** Only stars older than this id. */
  readonly before?: { readonly day: Day; readonly id: string } | undefined;
  /** Only stars since one instant, to the end of the other's UTC day (epoch ms): the days name the partitions. */
  readonly between?: readonly [since: number, now: number] | undefined;
  /** The newest so many. */
  readonly limit: number;
}

/**
 * Stars, newest first, by whichever index fits what is asked. Star ids begin with their instant, so
 * those since an instant are a range of the primary key; of the stars of one event or one wallet they
 * are a range of their own index.
 */
export async function listStars(sql: Sql, query: StarQuery): Promise<readonly ListedStar[]> {
  const { wallet, event, before, between, limit } = query;
  const [since = 0, now = 0] = between ?? [];
  const ofEvent = sql`target_type = 'event' and target_id = ${event ?? ""} and at >= ${since}::bigint`;
  const isOfEvent = wallet === undefined && event !== undefined;
  const ofDays = sql`${between === undefined ? sql`true` : sql`day between ${dayOf(since)} and ${dayOf(now)}`}
    and ${before === undefined ? sql`true` : sql`day <= ${before.day}`}`;
  // A wallet's stars are few: without the offset they may be looked for among all, newest first.
  const stars =
    wallet === undefined
      ? sql`star`
      : sql`(select * from star where wallet = ${wallet} and ${ofDays} offset 0) star`;
  return runStatement(sql<ListedStar[]>`
    select ${starNumbers(sql)}, target_type as type, target_id as "targetId", day
    from ${stars}
    where ${ofDays}
      and ${between === undefined ? sql`true` : sql`id >= first_star_id(${Math.max(0, since)}::bigint)`}
      and ${before === undefined ? sql`true` : sql`(day, id) < (${before.day}, ${before.id})`}
      and ${event === undefined ? sql`true` : ofEvent}
    order by ${isOfEvent ? sql`at desc` : sql`day desc`}, id desc limit ${limit}`);
}
