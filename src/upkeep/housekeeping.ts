import { dayOf } from "../../actors/day.ts";
import { bounds } from "../bounds.ts";
import type { Clock } from "../clock.ts";
import type { Logger } from "../log.ts";
import { every, type Service } from "../service.ts";
import { ensureStarPartitions } from "../store/migrate.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

export interface HousekeepingDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Logger;
}

/** About 60 ms of work: far below the timeout of a statement, also on a slow disk. */
const SLICE_ROWS = 10_000;

/**
 * Makes the journal's partitions a month ahead and deletes expired sessions, challenges and
 * idempotency keys, every hour, and at once again while there is more to delete. Any number of
 * workers may do it.
 */
export function startHousekeeping(deps: HousekeepingDeps): Service {
  const round = async (): Promise<void> => {
    if (await cleanUp(deps)) rounds.wake();
  };
  const rounds = every(bounds.housekeepingEveryMs, round, { firstAfterMs: 0 });
  return rounds;
}

/**
 * One round. A part that fails is logged, and the others run all the same.
 *
 * @returns whether there is more to delete
 */
export async function cleanUp({ sql, clock, log }: HousekeepingDeps): Promise<boolean> {
  const now = clock.now();
  /** @returns whether a whole slice was deleted */
  const deletePast = async (table: string, column: string, before: number): Promise<boolean> => {
    const { count } = await runStatement(sql`
      delete from ${sql(table)} where ctid = any(array(
        select ctid from ${sql(table)} where ${sql(column)} < ${before} limit ${SLICE_ROWS}))`);
    return count === SLICE_ROWS;
  };
  const parts = {
    partitions: () => runStatement(ensureStarPartitions(sql, dayOf(now))),
    idempotencyKeys: () =>
      deletePast("idempotency_key", "created_at", now - bounds.idempotencyKeptMs),
    sessions: () => deletePast("session", "expires_at", now),
    challenges: () => deletePast("challenge", "expires_at", now),
  };
  let hasMore = false;
  for (const [part, run] of Object.entries(parts)) {
    try {
      hasMore = (await run()) === true || hasMore;
    } catch (error) {
      log.error({ err: error, part }, "housekeeping failed");
    }
  }
  return hasMore;
}
