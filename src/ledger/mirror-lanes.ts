import { bounds } from "../config.ts";
import type { Budget } from "./mirror-deadline.ts";
import { MirrorError } from "./mirror-error.ts";

/** Lets requests through when there is room for them. */
export interface Lanes {
  /** @throws MirrorError "overloaded", "resting" or "aborted", or what the request throws */
  enter<T>(budget: Pick<Budget, "isOver" | "background">, request: () => Promise<T>): Promise<T>;
  /** A node said that it has too much to do. */
  slowDown(): void;
}

/** What a mirror node is asked at once before it has shown that it takes more. */
const STARS_IN_FLIGHT_FIRST = 24;
/** At 100 ms an answer these are what public mirror nodes allow, about 50 requests a second. */
const STARS_IN_FLIGHT_MIN = 6;
/** All that were under way together are refused together: that is one refusal. */
const SLOWS_DOWN_EVERY_MS = 500;
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
 * The stars' lane is as wide as the mirror node makes it: while requests wait,
 * each answer widens it by one, and a refusal for overload halves it. After the
 * first of those it widens by one for every whole width of answers.
 *
 * @param now a monotonic clock in milliseconds
 */
export function createLanes(now: () => number): Lanes {
  const stars = createLane(STARS_IN_FLIGHT_FIRST);
  const background = createLane(bounds.mirrorBackgroundInFlightMax);
  const unlessBroken = createBreaker(now);
  let width = STARS_IN_FLIGHT_FIRST;
  let slowedAt: number | undefined;
  const widen = (): void => {
    if (stars.waiting() === 0) return;
    width = Math.min(
      width + (slowedAt === undefined ? 1 : 1 / width),
      bounds.mirrorRequestsInFlightMax,
    );
    stars.setWidth(width);
  };

  return {
    async enter(budget, request) {
      const whenWanted = async () => {
        if (budget.isOver) throw new MirrorError("aborted", "not asked, nobody waits for it");
        return request();
      };
      if (budget.background) return background.run(() => unlessBroken(whenWanted));
      return stars.run(async () => {
        const answer = await whenWanted();
        widen();
        return answer;
      });
    },
    slowDown() {
      if (slowedAt !== undefined && now() < slowedAt + SLOWS_DOWN_EVERY_MS) return;
      slowedAt = now();
      width = Math.max(width / 2, STARS_IN_FLIGHT_MIN);
      stars.setWidth(width);
    },
  };
}

/** So many requests at once, and the others behind them in the order in which they came. */
function createLane(firstWidth: number) {
  const queue: (() => void)[] = [];
  let width = firstWidth;
  let inFlight = 0;
  const letIn = (): void => {
    while (queue.length > 0 && inFlight + 1 <= width) {
      inFlight += 1;
      queue.shift()?.();
    }
  };

  return {
    waiting: () => queue.length,
    setWidth(next: number): void {
      width = next;
    },
    /** Those that nobody waits for any more keep their place: they are over as soon as it is theirs. */
    async run<T>(request: () => Promise<T>): Promise<T> {
      if (queue.length >= WAITING_MAX) {
        throw new MirrorError("overloaded", "too many requests are waiting already");
      }
      if (queue.length === 0 && inFlight + 1 <= width) inFlight += 1;
      else await new Promise<void>((resolve) => queue.push(resolve));
      try {
        return await request();
      } finally {
        inFlight -= 1;
        letIn();
      }
    },
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
