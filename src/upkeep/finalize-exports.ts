import type { Day } from "../../actors/day.ts";
import { RetryableError } from "../errors.ts";
import {
  daysToCheck,
  findExport,
  headerOf,
  makeFinal,
  nextFinalDay,
  noteCheck,
} from "../journal/export-days.ts";
import { type ExportSettings, noteSettings } from "../journal/export-settings.ts";
import { hashExport } from "../journal/write-export.ts";
import type { Logger } from "../log.ts";
import { mayLackStars } from "../publishing/journal-behind.ts";
import { every, type Service } from "../service.ts";
import { followCommitWatermark, settleJournal } from "../store/commit-watermark.ts";
import { isOutOfRoom, type Sql } from "../store/postgres.ts";
import type { Troubles } from "./troubles.ts";

export interface ExportsDeps {
  readonly sql: Sql;
  readonly log: Logger;
  readonly settings: ExportSettings;
  /** Called where a day cannot be made final though Postgres answers. */
  readonly troubles?: Pick<Troubles, "note">;
  readonly everyMs?: number;
}

/** A day is final seconds after the last of its stars is published. */
const EVERY_MS = 5_000;
/** The newest final day and an older one are made again this often, and compared. */
const CHECK_EVERY_MS = 3_600_000;
/** A commit is there at once; one that hangs is asked for again in the next round. */
const SETTLED_WITHIN_MS = 1_000;

/**
 * Makes days final as soon as they can be, oldest first, and looks from time to time whether
 * final days still are what they were. Any number of workers may do it: the first one's row
 * stands.
 *
 * @returns a service; closing it gives a day in progress up, and the next worker takes it
 */
export function startExportsUpkeep(deps: ExportsDeps): Service {
  const stop = new AbortController();
  const round = async (): Promise<void> => {
    await noteSettings(deps.sql, deps.settings);
    await finalizeDueDays(deps, stop.signal);
    await checkFinalDays(deps, stop.signal);
    deps.troubles?.note("exportsFailSince", false);
  };
  const rounds = every(deps.everyMs ?? EVERY_MS, round, {
    firstAfterMs: 0,
    onFailure(error) {
      // Another check reports that Postgres is away, and it passes.
      const isAway = error instanceof RetryableError && !isOutOfRoom(error);
      if (!isAway) deps.troubles?.note("exportsFailSince", true);
      deps.log.warn({ err: error }, "exports could not be made final");
    },
  });
  return {
    close() {
      stop.abort();
      return rounds.close();
    },
  };
}

/**
 * Makes every day final that can be, in order. A day is over by the one clock, Postgres'
 * (contract, section 7); none is final while stars of it may be on the topics alone.
 *
 * @returns those days
 */
export async function finalizeDueDays(
  { sql, log, settings }: ExportsDeps,
  stop?: AbortSignal,
): Promise<readonly Day[]> {
  const days: Day[] = [];
  if (await mayLackStars(sql)) return days;
  const lookAtJournal = followCommitWatermark(sql);
  for (;;) {
    const next = await nextFinalDay(sql);
    if (next === null) return days;
    if ((await settleJournal(lookAtJournal, SETTLED_WITHIN_MS)) === null) return days;
    const { day, previous, isRecovered } = next;
    const header = headerOf(day, next.settings ?? settings, previous, isRecovered);
    const written = await hashExport(sql, header, { stop });
    // A star that is published and yet not: its row changed under our eyes. Look again later.
    if (written === null || written.footer.unpublished > 0) return days;
    // Asked for each day, and last: a recovery may have started meanwhile, and this day lack what it brings back.
    if (await mayLackStars(sql)) return days;
    await makeFinal(sql, header, written);
    log.info({ day, stars: written.footer.stars }, "the journal of this day is final");
    days.push(day);
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
    const written = final && (await hashExport(sql, final.header, { stop }));
    if (final === null || written === null) continue;
    const { sha256 } = written.footer;
    await noteCheck(sql, day, sha256);
    if (sha256 === final.sha256) continue;
    log.error({ day, sha256, was: final.sha256 }, "the journal of a final day was changed");
    differing.push(day);
  }
  return differing;
}
