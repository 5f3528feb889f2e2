import type { Sql } from "../store/postgres.ts";
import { offersOfDay } from "./reward-hand-off.ts";
import type { RewardsQueue } from "./rewards-queue.ts";

const BATCH = 500;
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

/**
 * Offers every star of a UTC day to rewards once more, also where its job is done or failed; one
 * that is being worked on just now stays as it is.
 *
 * @returns how many
 * @throws RetryableError `UNAVAILABLE` while Redis is away; a repetition does no harm
 */
export async function reofferDay(sql: Sql, queue: RewardsQueue, day: string): Promise<number> {
  let count = 0;
  let after = BEFORE_ALL;
  for (;;) {
    const offers = await offersOfDay(sql, { day, after, limit: BATCH });
    await queue.offerAgain(offers);
    count += offers.length;
    after = offers.at(-1)?.starId ?? after;
    if (offers.length < BATCH) return count;
  }
}
