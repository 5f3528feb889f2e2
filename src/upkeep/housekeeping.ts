import { dayOf } from "../../actors/day.ts";
import type { Clock } from "../clock.ts";
import { bounds } from "../config.ts";
import { forgetIdempotencyKeys } from "../journal/idempotency.ts";
import type { Logger } from "../log.ts";
import { ensureStarPartitions } from "../store/migrate.ts";
import { inTime, type Sql } from "../store/postgres.ts";

export interface HousekeepingDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Something that runs until it is closed. */
export interface Housekeeping {
  /** Resolves when the round in progress has ended. */
  close(): Promise<void>;
}

/**
 * Keeps the house in order, hourly: makes the journal's partitions a month ahead, forgets
 * sessions and challenges that have ended and idempotency keys past their time. Any number of
 * workers may do it; a round that fails is made up for by the next.
 */
export function startHousekeeping(deps: HousekeepingDeps): Housekeeping {
  let round: Promise<void> = Promise.resolve();
  const start = (): void => {
    round = keepHouse(deps).catch((error) => deps.log.warn({ err: error }, "housekeeping failed"));
  };
  start();
  const timer = setInterval(start, bounds.housekeepingEveryMs);
  timer.unref();
  return {
    async close() {
      clearInterval(timer);
      await round;
    },
  };
}

/** One round. */
export async function keepHouse({ sql, clock }: HousekeepingDeps): Promise<void> {
  const now = clock.now();
  await inTime(ensureStarPartitions(sql, dayOf(now)));
  await forgetIdempotencyKeys(sql, now - bounds.idempotencyKeptMs);
  await inTime(sql`
    with sessions as (delete from session where expires_at < ${now})
    delete from challenge where expires_at < ${now}`);
}
