import type { Day } from "../../actors/day.ts";
import { inTime, type Sql } from "../store/postgres.ts";

/** The newest run of the daily check, in numbers. */
export interface LastHoldingsCheck {
  readonly id: string;
  readonly day: Day;
  readonly kind: "scheduled" | "manual";
  readonly state: "skipped" | "running" | "done" | "incomplete";
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly removed: number;
  readonly kept: number;
  readonly deferred: number;
}

/**
 * @returns null before the first run
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export async function lastHoldingsCheck(sql: Sql): Promise<LastHoldingsCheck | null> {
  const [row] = await inTime(sql<LastHoldingsCheck[]>`
    select id, day, kind, state, started_at as "startedAt", finished_at as "finishedAt",
      (select count(*) from claim_release where run_id = run.id) as removed,
      (select coalesce(sum(kept), 0) from holdings_check_mint where run_id = run.id) as kept,
      (select coalesce(sum(json_array_length(deferred)), 0) from holdings_check_mint
        where run_id = run.id) as deferred
    from (select * from holdings_check_run order by started_at desc limit 1) run`);
  return row ?? null;
}
