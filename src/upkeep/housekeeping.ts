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
 * Makes the journal's partitions a month ahead and deletes expired sessions, challenges and
 * idempotency keys, every hour. Any number of workers may do it; the next round does what a
 * failed one left.
 */
export function startHousekeeping(deps: HousekeepingDeps): Service {
  return every(bounds.housekeepingEveryMs, () => cleanUp(deps), {
    onFailure: (error) => deps.log.warn({ err: error }, "housekeeping failed"),
    firstAfterMs: 0,
  });
}

/** One round. */
export async function cleanUp({ sql, clock }: HousekeepingDeps): Promise<void> {
  const now = clock.now();
  await runStatement(ensureStarPartitions(sql, dayOf(now)));
  await forgetIdempotencyKeys(sql, now - bounds.idempotencyKeptMs);
  await runStatement(sql`
    with sessions as (delete from session where expires_at < ${now})
    delete from challenge where expires_at < ${now}`);
}
