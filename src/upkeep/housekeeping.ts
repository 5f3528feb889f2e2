import { dayOf } from "../../actors/day.ts";
import { bounds } from "../bounds.ts";
import type { Clock } from "../clock.ts";
import { forgetIdempotencyKeys } from "../journal/idempotency.ts";
import type { Logger } from "../log.ts";
import { every, type Service } from "../service.ts";
import { ensureStarPartitions } from "../store/migrate.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

export interface HousekeepingDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Keeps the house in order, hourly: makes the journal's partitions a month ahead, forgets
 * sessions and challenges that have ended and idempotency keys past their time. Any number of
 * workers may do it; a round that fails is made up for by the next.
 */
export function startHousekeeping(deps: HousekeepingDeps): Service {
  return every(bounds.housekeepingEveryMs, () => keepHouse(deps), {
    onFailure: (error) => deps.log.warn({ err: error }, "housekeeping failed"),
    firstAfterMs: 0,
  });
}

/** One round. */
export async function keepHouse({ sql, clock }: HousekeepingDeps): Promise<void> {
  const now = clock.now();
  await runStatement(ensureStarPartitions(sql, dayOf(now)));
  await forgetIdempotencyKeys(sql, now - bounds.idempotencyKeptMs);
  await runStatement(sql`
    with sessions as (delete from session where expires_at < ${now})
    delete from challenge where expires_at < ${now}`);
}
