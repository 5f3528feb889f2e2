import { setTimeout as sleep } from "node:timers/promises";
import { type Day, endOfDay } from "../../actors/day.ts";
import {
  daysToCheck,
  type ExportSettings,
  findExport,
  headerOf,
  makeFinal,
  nextFinalDay,
  noteCheck,
  openFence,
} from "../journal/export-days.ts";
import type { ExportHeader } from "../journal/export-format.ts";
import { type WrittenExport, writeExport } from "../journal/write-export.ts";
import type { Logger } from "../log.ts";
import type { Sql } from "../store/postgres.ts";

export interface ExportsDeps {
  readonly sql: Sql;
  readonly log: Logger;
  readonly settings: ExportSettings;
  /** The machine's clock: a second witness that a day is over, before that is said for good. */
  readonly machineNow?: () => number;
  readonly everyMs?: number;
}

export interface ExportsUpkeep {
  /** Gives a day in progress up; the next worker begins it again. */
  close(): Promise<void>;
}

/** A day is final a minute after the last of its stars is published. */
const EVERY_MS = 60_000;
/** The newest final day and an older one are made again this often, and compared. */
const CHECK_EVERY_MS = 3_600_000;
/** What was on its way at the fence is there at once; else the next round asks again. */
const FENCE_LOOKS = 10;
const FENCE_LOOK_EVERY_MS = 100;

/**
 * Makes days final as soon as they can be, oldest first, and looks from time to time whether
 * final days still are what they were. Any number of workers may do it: the first one's row
 * stands.
 */
export function startExportsUpkeep(deps: ExportsDeps): ExportsUpkeep {
  const stop = new AbortController();
  const round = async (): Promise<void> => {
    try {
      await finalizeDueDays(deps, stop.signal);
      await checkFinalDays(deps, stop.signal);
    } catch (error) {
      deps.log.warn({ err: error }, "exports could not be made final");
    }
  };
  let timer: NodeJS.Timeout | undefined;
  const goOn = async (): Promise<void> => {
    await round();
    if (stop.signal.aborted) return;
    timer = setTimeout(() => {
      last = goOn();
    }, deps.everyMs ?? EVERY_MS).unref();
  };
  let last = goOn();
  return {
    async close() {
      stop.abort();
      clearTimeout(timer);
      await last;
    },
  };
}

/**
 * Makes every day final that can be, in order. Not while the machine's clock says that the day is
 * still going on: a database clock that ran ahead for a moment would close days to come.
 *
 * @returns those days
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export async function finalizeDueDays(
  { sql, log, settings, machineNow = Date.now }: ExportsDeps,
  stop?: AbortSignal,
): Promise<readonly Day[]> {
  const days: Day[] = [];
  for (;;) {
    const next = await nextFinalDay(sql);
    if (next === null || machineNow() < endOfDay(next.day)) return days;
    if (!(await isSettled(sql))) return days;
    const header = headerOf(next.day, settings, next.previous);
    const written = await hashExport(sql, header, stop);
    // A star that is published and yet not: its row changed under our eyes. Look again later.
    if (written === null || written.footer.unpublished > 0) return days;
    await makeFinal(sql, header, written);
    log.info({ day: next.day, stars: written.footer.stars }, "the journal of this day is final");
    days.push(next.day);
  }
}

/**
 * Makes exports of final days again and notes what they are.
 *
 * @returns the days whose export is another one now
 */
export async function checkFinalDays(
  { sql, log }: Pick<ExportsDeps, "sql" | "log">,
  stop?: AbortSignal,
): Promise<readonly Day[]> {
  const differing: Day[] = [];
  for (const day of await daysToCheck(sql, CHECK_EVERY_MS)) {
    const { final } = await findExport(sql, day);
    const written = final && (await hashExport(sql, final.header, stop));
    if (final === null || written === null) continue;
    const { sha256 } = written.footer;
    await noteCheck(sql, day, sha256);
    if (sha256 === final.sha256) continue;
    log.error({ day, sha256, was: final.sha256 }, "the journal of a final day was changed");
    differing.push(day);
  }
  return differing;
}

async function isSettled(sql: Sql): Promise<boolean> {
  const isPassed = await openFence(sql);
  for (let look = 0; look < FENCE_LOOKS; look += 1) {
    if (await isPassed()) return true;
    await sleep(FENCE_LOOK_EVERY_MS);
  }
  return false;
}

/** Writes an export nowhere. @returns null when told to stop */
async function hashExport(
  sql: Sql,
  header: ExportHeader,
  stop: AbortSignal | undefined,
): Promise<WrittenExport | null> {
  const text = writeExport(sql, header);
  for (;;) {
    if (stop?.aborted) return null;
    const { done, value } = await text.next();
    if (done) return value;
  }
}
