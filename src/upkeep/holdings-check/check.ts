import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { dayOf, endOfDay } from "../../../actors/day.ts";
import type { Clock } from "../../clock.ts";
import { RetryableError } from "../../errors.ts";
import { type Logger, oncePerOutage } from "../../log.ts";
import { mayLackStars } from "../../publishing/journal-behind.ts";
import { every, type Service } from "../../service.ts";
import type { Sql } from "../../store/postgres.ts";
import { dryRun, makePass } from "./pass.ts";
import {
  type CheckRun,
  endPass,
  type ProgressDeps,
  type RunEnd,
  startManualRun,
  takeDueRun,
  whileHolding,
} from "./progress.ts";
import type { ReadingDeps } from "./readings.ts";

export interface HoldingsCheckDeps extends Omit<ReadingDeps, "signal"> {
  readonly sql: Sql;
  readonly log: Logger;
  /** Waits between the two passes of a run by hand. */
  readonly pause?: (ms: number) => Promise<unknown>;
}

/** What became of a call: nothing was due, or a pass was made. */
export type DueOutcome =
  | { readonly kind: "nothing-due" }
  | {
      readonly kind: "checked";
      readonly run: CheckRun;
      /** When the parts left open may be looked at again; null where none is. */
      readonly retryAfterMs: number | null;
    };

/**
 * The daily check: "removes the weight of collection A or collection B NFTs that the wallet no
 * longer holds". Any number of processes may call it at any time.
 */
export type HoldingsCheck = ReturnType<typeof createHoldingsCheck>;

/** The first retry after this long, each later one after twice as long, up to the maximum. */
const RETRY_AFTER_MS = 5_000;
const RETRY_AFTER_MS_MAX = 600_000;
/** An operator waits for a run by hand: what moves just now gets one more chance, after this long. */
const MANUAL_PAUSE_MS = 1_000;

type CheckDeps = HoldingsCheckDeps & ReadingDeps & ProgressDeps;

export function createHoldingsCheck(given: HoldingsCheckDeps) {
  const closing = new AbortController();
  const deps: CheckDeps = { ...given, signal: closing.signal, worker: randomUUID() };
  const { pause = delay } = deps;
  let due: Promise<DueOutcome> | undefined;
  const checkDue = async (): Promise<DueOutcome> => {
    // What the journal lacks comes back with the endings of its own days.
    if (await mayLackStars(deps.sql)) return { kind: "nothing-due" };
    const run = await takeDueRun(deps);
    if (run === null) return { kind: "nothing-due" };
    await deps.failpoint?.("forever.taken");
    return whileHolding(deps, run, async () => {
      if ((await makePass(deps, run)) === 0) {
        await conclude(deps, run, { state: "done" });
        return { kind: "checked", run, retryAfterMs: null };
      }
      const isCut = closing.signal.aborted;
      const waitMs = Math.min(RETRY_AFTER_MS * 2 ** (run.passes - 1), RETRY_AFTER_MS_MAX);
      const retryAfterMs = isCut ? 0 : waitMs;
      const nextTryAt = deps.clock.now() + retryAfterMs;
      await conclude(deps, run, { state: "running", nextTryAt, isCut });
      return { kind: "checked", run, retryAfterMs };
    });
  };
  const runToEnd = (run: CheckRun): Promise<CheckRun> =>
    whileHolding(deps, run, async () => {
      let open = await makePass(deps, run);
      if (open > 0) {
        await pause(MANUAL_PAUSE_MS);
        open = await makePass(deps, run);
      }
      await conclude(deps, run, { state: open === 0 ? "done" : "incomplete" });
      return run;
    });
  return {
    /**
     * Ends a pass in progress early and in order: what it has not read stays open, and the next
     * call, in any process, goes on there.
     */
    async close(): Promise<void> {
      closing.abort();
      await due?.catch(() => undefined);
    },
    /**
     * Makes the check of this UTC day, or goes on with it, unless it is done, in another worker's
     * hands, not yet to be tried again, or the journal may lack stars. The day of the very first call
     * counts as checked, unless the journal came back from the ledger.
     */
    runDue() {
      // The lease is the process', so within it the calls have to share one pass.
      due ??= checkDue().finally(() => {
        due = undefined;
      });
      return due;
    },
    /** Checks now, however often the day was checked before. */
    runNow: async () => runToEnd((await startManualRun(deps, false)).run),
    /**
     * Starts a check as above unless one is under way, in any process.
     *
     * @returns the run that is under way; `done` settles with it where this call has started it
     */
    async startRun() {
      const { run, isNew } = await startManualRun(deps, true);
      return { id: run.id, done: isNew ? runToEnd(run) : null };
    },
    /**
     * Reads, verifies and plans as a check does, and writes nothing: no run, no progress, no
     * release. NFTs may move between this and a run: the run reads again.
     *
     * @throws RetryableError `UNAVAILABLE` where it was ended early: what was not read is no answer
     */
    async runDry() {
      const report = await dryRun(deps);
      if (closing.signal.aborted)
        throw new RetryableError("UNAVAILABLE", "the process stopped amid the dry run");
      return report;
    },
  };
}

async function conclude(deps: CheckDeps, run: CheckRun, end: RunEnd): Promise<void> {
  await deps.failpoint?.("forever.reported");
  await endPass(deps, run, end);
}

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
