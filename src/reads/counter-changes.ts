import type { TargetType } from "../../actors/content.ts";
import type { Day } from "../../actors/day.ts";
import type { JournalPosition } from "../store/commit-watermark.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { approvedTarget } from "./targets.ts";

export interface CounterChange {
  readonly type: TargetType;
  readonly id: string;
  /** The stored counter, at least as new as the change. */
  readonly totalVotes: number;
  /** UTC day of the change, and of a counter that restarts daily. */
  readonly day: Day;
}

/** Counters of approved items that changed after one position of the journal and up to another. */
export async function counterChanges(
  sql: Sql,
  after: JournalPosition,
  upTo: JournalPosition,
): Promise<readonly CounterChange[]> {
  return runStatement(sql<CounterChange[]>`
    with changed as (
      select type, id, max(day) as day from (
        select target_type as type, target_id as id, day
        from star where seq > ${after.star} and seq <= ${upTo.star}
        union all
        select 'event', event_id, utc_day(released_at)
        from claim_release where seq > ${after.release} and seq <= ${upTo.release}
      ) change
      group by type, id
    )
    select type, id, coalesce(event_total.weight, item_day.weight, 0) as "totalVotes", asked.day
    from changed as asked
    left join event_total on type = 'event' and event_id = id
    left join item_day on type <> 'event' and target_type = type and target_id = id
      and item_day.day = asked.day
    where exists (${approvedTarget(sql)})`);
}
