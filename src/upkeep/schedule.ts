import { type Logger, oncePerOutage } from "../log.ts";
import { every, type Service } from "../service.ts";
import type { HoldingsCheck } from "./holdings-check/check.ts";
import { type MidnightQueue, openMidnightQueue } from "./midnight-queue.ts";

export interface ScheduleDeps {
  readonly check: Pick<HoldingsCheck, "runDue" | "close">;
  /** Where BullMQ keeps its schedule; absent where no Redis is fit for it, and the tick does. */
  readonly redisUrl: string | undefined;
  readonly log: Logger;
  readonly tickEveryMs?: number;
  readonly assertEveryMs?: number;
}

/** One statement each: a worker that was down over 00:00 begins within this time after its start. */
const TICK_EVERY_MS = 10_000;
/** Redis emptied: the schedule is back within a minute. */
const ASSERT_EVERY_MS = 60_000;
/** Timers may fire a little before their time. */
const TIMER_EARLY_MS = 50;

/**
 * Calls the daily check when it may be due: at once, at every 00:00 UTC that BullMQ's scheduler
 * rings in, at a tick that depends on neither Redis nor the machine's clock, and when parts
 * left open may be tried again. Whether anything is due Postgres alone decides, so that any
 * number of workers may do this.
 *
 * @returns what ends a pass in progress early, and lets go of the queue, when it is closed
 */
export function startHoldingsCheckSchedule(deps: ScheduleDeps): Service {
  const { check, redisUrl, log, tickEveryMs = TICK_EVERY_MS } = deps;
  const outage = oncePerOutage(log, "the holdings check cannot go on just now");
  let retry: NodeJS.Timeout | undefined;
  const runDue = async (): Promise<void> => {
    const outcome = await check.runDue();
    outage.over();
    if (outcome.kind === "nothing-due" || outcome.retryAfterMs === null) return;
    clearTimeout(retry);
    retry = setTimeout(tick.wake, outcome.retryAfterMs + TIMER_EARLY_MS).unref();
  };
  const tick = every(tickEveryMs, runDue, { onFailure: outage.failed, firstAfterMs: 0 });
  const midnight =
    redisUrl === undefined
      ? undefined
      : keepMidnight(redisUrl, { ...deps, onMidnight: () => tick.wake() });
  return {
    async close() {
      await Promise.all([tick.close(), check.close(), midnight?.close()]);
      clearTimeout(retry);
    },
  };
}

/** Keeps BullMQ's schedule standing, through outages and FLUSHALL. */
function keepMidnight(
  redisUrl: string,
  {
    log,
    onMidnight,
    assertEveryMs = ASSERT_EVERY_MS,
  }: ScheduleDeps & { readonly onMidnight: () => void },
): Service {
  const outage = oncePerOutage(log, "the queue of the holdings check is away");
  const onError = outage.failed;
  let open: MidnightQueue | undefined;
  const assert = async (): Promise<void> => {
    open ??= await openMidnightQueue({ redisUrl, onMidnight, onError });
    await open.assert();
    outage.over();
  };
  const asserting = every(assertEveryMs, assert, { onFailure: onError, firstAfterMs: 0 });
  return {
    async close() {
      await asserting.close();
      await open?.close();
    },
  };
}
