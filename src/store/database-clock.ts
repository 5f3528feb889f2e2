import { type FollowedClock, followClock } from "../clock.ts";
import type { Logger } from "../log.ts";
import { readDatabaseClock, type Sql } from "./postgres.ts";

/**
 * Follows the clock of a database.
 *
 * @throws RetryableError `UNAVAILABLE` when it is out of reach: a process that does not know the
 *   time dates no star
 */
export function followDatabaseClock(sql: Sql, log: Logger): Promise<FollowedClock> {
  return followClock(
    () => readDatabaseClock(sql),
    (error) => log.warn({ err: error }, "the clock could not be measured"),
  );
}
