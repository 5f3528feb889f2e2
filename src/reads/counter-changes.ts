import type { TargetType } from "../../actors/content.ts";
import type { JournalPlace } from "../store/journal-horizon.ts";
import { inTime, type Sql } from "../store/postgres.ts";

/** A counter after it changed. */
export interface CounterChange {
  readonly type: TargetType;
  readonly id: string;
  /** The stored counter, at least as new as the change. */
  readonly totalVotes: number;
  /** UTC day of the change, and of a counter that restarts daily. */
  readonly day: string;
  /** The last star that changed it, and the last release, by their numbers; 0 where none did. */
  readonly star: number;
  readonly release: number;
}

/**
 * Counters of approved items that changed after one place of the journal and up to another.
 *
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export async function counterChanges(
  sql: Sql,
  after: JournalPlace,
  upTo: JournalPlace,
): Promise<readonly CounterChange[]> {
  return inTime(sql<CounterChange[]>`
    with change as (
      select target_type as type, target_id as id, max(seq) as star, 0 as release, max(day) as day
      from star where seq > ${after.star} and seq <= ${upTo.star} group by 1, 2
      union all
      select 'event', event_id, 0, max(seq), utc_day(max(released_at))
      from claim_release where seq > ${after.release} and seq <= ${upTo.release} group by 2
    ), changed as (
      select type, id, max(star) as star, max(release) as release, max(day) as day
      from change group by 1, 2
    )
    select changed.*, coalesce(event_total.weight, item_day.weight, 0) as "totalVotes"
    from changed
    left join event_total on type = 'event' and event_id = id
    left join item_day on type <> 'event' and target_type = type and target_id = id
      and item_day.day = changed.day
    where case type
      when 'event' then exists (
        select from event where event.id = changed.id and approved_at is not null)
      when 'token' then exists (
        select from token where token.id = changed.id and approved_at is not null)
      when 'collection' then exists (
        select from collection where collection.id = changed.id and approved_at is not null)
      else exists (
        select from project where project.id = changed.id and approved_at is not null)
    end`);
}
