import { bulkhead, isBulkheadRejectedError } from "cockatiel";
import { bounds } from "../../bounds.ts";
import { bound } from "../../tracing.ts";
import { MirrorError } from "./error.ts";
import type { Budget } from "./limits.ts";

/** At 50 ms an answer, the last of so many waits a quarter of a second. */
const WAITING_MAX = 512;
const BREAKS_AFTER_FAILURES = 5;
/** Everything works again within five seconds after a fault ends. */
const BREAK_MS = 2_000;

/**
 * Two lanes, so that a long background read never stands before a star. Both are of fixed size,
 * and beyond their bound refuse at once. A request that the mirror node puts off keeps its place
 * in the lane, so a busy node is asked in the order in which the reads came. Only the background
 * lane has a breaker: a star's own read is always tried.
 *
 * @param now a monotonic clock in milliseconds
 * @returns lets a request through when there is room for it; it throws MirrorError "overloaded",
 *   "resting" or "aborted", or what the request throws
 */
export function createLanes(now: () => number) {
  const stars = bulkhead(bounds.mirrorRequestsInFlightMax, WAITING_MAX);
  const background = bulkhead(bounds.mirrorBackgroundInFlightMax, WAITING_MAX);
  const unlessBroken = createBreaker(now);
  return async <T>(
    budget: Pick<Budget, "isOver" | "background">,
    request: () => Promise<T>,
  ): Promise<T> => {
    /** Reads that were given up keep their place in the queue, and end when it is their turn. */
    const whenWanted = bound(async () => {
      if (budget.isOver) throw new MirrorError("aborted", "not asked, its reader is gone");
      return request();
    });
    try {
      return await (budget.background
        ? background.execute(() => unlessBroken(whenWanted))
        : stars.execute(whenWanted));
    } catch (error) {
      if (!isBulkheadRejectedError(error)) throw error;
      throw new MirrorError("overloaded", "too many requests are waiting already", error);
    }
  };
}

/**
 * After failures in a row, lets one request through per break until one
 * succeeds. Ours, because the policy library's breaker uses the machine
 * clock: set back an hour, it would stay open for that hour.
 */
function createBreaker(now: () => number): <T>(request: () => Promise<T>) => Promise<T> {
  let failures = 0;
  let opensAt = 0;
  return async (request) => {
    if (failures >= BREAKS_AFTER_FAILURES) {
      if (now() < opensAt) throw new MirrorError("resting", "it failed too often to be asked now");
      opensAt = now() + BREAK_MS;
    }
    try {
      const answer = await request();
      failures = 0;
      return answer;
    } catch (error) {
      if (error instanceof MirrorError && error.fault !== "aborted") {
        failures += 1;
        opensAt = now() + BREAK_MS;
      }
      throw error;
    }
  };
}
