import { dayOf, endOfDay } from "../../actors/day.ts";
import type { Clock } from "../clock.ts";
import { type Logger, oncePerOutage } from "../log.ts";
import { every, type Service } from "../service.ts";
import type { HoldingsCheck } from "./holdings-check/check.ts";

/** One statement each: a worker that was down over 00:00 begins within this time after its start. */
const TICK_EVERY_MS = 10_000;
/** Timers may fire a little before their time. */
const TIMER_EARLY_MS = 50;

/**
 * Calls the daily check when it may be due: at once, at every 00:00 UTC, when parts left open may be
 * tried again, and at a tick, because the clock may be set. Whether anything is due Postgres alone
 * decides, so that any number of workers may do this.
 *
 * @returns what ends a pass in progress early when it is closed
 */
export function startHoldingsCheckSchedule(deps: {
  readonly check: Pick<HoldingsCheck, "runDue" | "close">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tickEveryMs?: number;
}): Service {
  const { check, clock, log, tickEveryMs = TICK_EVERY_MS } = deps;
  const outage = oncePerOutage(log, "the holdings check cannot go on just now");
  let retryAfterMs = Number.POSITIVE_INFINITY;
  const runDue = async (): Promise<void> => {
    const outcome = await check.runDue();
    outage.over();
    retryAfterMs = (outcome.kind === "checked" ? outcome.retryAfterMs : null) ?? tickEveryMs;
  };
  const untilMidnightMs = (): number => endOfDay(dayOf(clock.now())) - clock.now();
  const pauseMs = (): number =>
    Math.min(tickEveryMs, retryAfterMs, untilMidnightMs()) + TIMER_EARLY_MS;
  const ticking = every(pauseMs, runDue, { onFailure: outage.failed, firstAfterMs: 0 });
  return {
    async close() {
      await Promise.all([ticking.close(), check.close()]);
    },
  };
}
