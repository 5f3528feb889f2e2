import type { Logger } from "../log.ts";
import type { QueueBackend } from "../store/queue-connection.ts";
import type { HoldingsCheck } from "./holdings-check.ts";
import { type MidnightQueue, openMidnightQueue } from "./midnight-queue.ts";

export interface ScheduleDeps {
  readonly check: Pick<HoldingsCheck, "runDue" | "close">;
  /** Where BullMQ keeps its schedule. */
  readonly queue: QueueBackend;
  readonly log: Logger;
  readonly tickEveryMs?: number;
  readonly assertEveryMs?: number;
}

export interface HoldingsCheckSchedule {
  /** Ends a pass in progress early, and lets go of the queue. */
  close(): Promise<void>;
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
 */
export function startHoldingsCheckSchedule(deps: ScheduleDeps): HoldingsCheckSchedule {
  const { tickEveryMs = TICK_EVERY_MS, assertEveryMs = ASSERT_EVERY_MS } = deps;
  const isClosed = { yes: false };
  let retry: NodeJS.Timeout | undefined;
  const onTrouble = oncePerOutage(deps.log, "the holdings check cannot go on just now");
  const wake = async (): Promise<void> => {
    if (isClosed.yes) return;
    try {
      const outcome = await deps.check.runDue();
      onTrouble.over();
      if (outcome.kind === "nothing-due" || outcome.retryAfterMs === null || isClosed.yes) return;
      clearTimeout(retry);
      retry = setTimeout(wake, outcome.retryAfterMs + TIMER_EARLY_MS).unref();
    } catch (error) {
      onTrouble.begun(error);
    }
  };
  const tick = setInterval(wake, tickEveryMs).unref();
  const midnight = keepMidnight(deps, { wake, everyMs: assertEveryMs });
  void wake();
  return {
    async close() {
      isClosed.yes = true;
      clearInterval(tick);
      clearTimeout(retry);
      await Promise.all([deps.check.close(), midnight.close()]);
    },
  };
}

/** Keeps BullMQ's schedule standing, through outages and FLUSHALL. */
function keepMidnight(
  { queue: backend, log }: ScheduleDeps,
  { wake, everyMs }: { readonly wake: () => void; readonly everyMs: number },
): { close(): Promise<void> } {
  const trouble = oncePerOutage(log, "the queue of the holdings check is away");
  let open: MidnightQueue | undefined;
  let closed = false;
  const assert = async (): Promise<void> => {
    if (closed) return;
    try {
      open ??= await openMidnightQueue({ backend, onMidnight: wake, onError: trouble.begun });
      await open.assert();
      trouble.over();
    } catch (error) {
      trouble.begun(error);
    }
  };
  let last = assert();
  const timer = setInterval(() => {
    // One after the other: two of them would open two queues.
    last = last.then(assert);
  }, everyMs).unref();
  return {
    async close() {
      closed = true;
      clearInterval(timer);
      await last;
      await open?.close();
    },
  };
}

/** One line per outage, not one per attempt. */
function oncePerOutage(log: Logger, message: string) {
  let isOut = false;
  return {
    begun: (error: unknown): void => {
      if (!isOut) log.warn({ err: error }, message);
      isOut = true;
    },
    over: (): void => {
      isOut = false;
    },
  };
}
