import { bulkhead, isBulkheadRejectedError } from "cockatiel";
import { bounds } from "../config.ts";
import type { Budget } from "./mirror-deadline.ts";
import { MirrorError } from "./mirror-error.ts";

/** Lets a request through when there is room for it. */
export type Lanes = <T>(
  budget: Pick<Budget, "signal" | "background">,
  request: () => Promise<T>,
) => Promise<T>;

/** Work nobody waits for keeps at most a quarter of the connections from the stars. */
const BACKGROUND_IN_FLIGHT_MAX = bounds.mirrorRequestsInFlightMax / 4;
const STARS_IN_FLIGHT_MAX = bounds.mirrorRequestsInFlightMax - BACKGROUND_IN_FLIGHT_MAX;
/** At 50 ms an answer, the last of so many waits about a second. */
const WAITING_MAX = 512;
const BREAKS_AFTER_FAILURES = 5;
/** Everything works again within five seconds after a fault ends. */
const BREAK_MS = 2_000;

/**
 * Two lanes, so that a long background read never stands before a star. Both
 * are bounded, and beyond their bound refuse at once. Only the background lane
 * has a breaker: a star's own read is always tried.
 *
 * @param now a monotonic clock in milliseconds
 * @returns a gate that throws MirrorError "overloaded" or "resting", or what the request throws
 */
export function createLanes(now: () => number): Lanes {
  const stars = bulkhead(STARS_IN_FLIGHT_MAX, WAITING_MAX);
  const background = bulkhead(BACKGROUND_IN_FLIGHT_MAX, WAITING_MAX);
  const unlessBroken = createBreaker(now);

  return async (budget, request) => {
    // The bulkhead is not given the signal: one that finds a waiting request
    // aborted forgets to wake the next, which then waits although there is room.
    const whenWanted = async () => {
      if (budget.signal.aborted) throw new MirrorError("aborted", "not asked, nobody waits for it");
      return request();
    };
    try {
      if (!budget.background) return await stars.execute(whenWanted);
      return await background.execute(() => unlessBroken(whenWanted));
    } catch (error) {
      if (!isBulkheadRejectedError(error)) throw error;
      throw new MirrorError("overloaded", "too many requests are waiting already", error);
    }
  };
}

/**
 * After failures in a row, lets one request through per break until one
 * succeeds. Ours, because the policy library's breaker goes by the machine
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
