import { type PendingPublications, pendingPublications } from "../../publishing/outbox.ts";
import type { ListedCheck } from "../../reads/console-holdings.ts";
import type { Sql } from "../../store/postgres.ts";
import {
  type KnownProcess,
  type MinuteDelta,
  readDeltas,
  readProcesses,
} from "../../store/service-report.ts";
import { lastCheck, readVerdict, type Verdict } from "../../upkeep/service-verdict.ts";

/** Everything the overview shows, as of one moment. */
export interface Numbers extends PendingPublications {
  readonly at: number;
  readonly points: readonly Point[];
  /** Seconds from star to ledger in the last `LAG_MINUTES`, the mean of all stars; null where none was published. */
  readonly lagSeconds: number | null;
  /** Sums of the last hour by name of the delta; see `src/upkeep/metric-deltas.ts`. */
  readonly hour: ReadonlyMap<string, number>;
  readonly processes: readonly KnownProcess[];
  /** The run of the holdings check that ended last; undefined before the first. */
  readonly check: ListedCheck | undefined;
  /** What is wrong, if anything is; banner, badge, Overview and Publishing all show this one. */
  readonly verdict: Verdict;
}

/**
 * One minute of the charts: the minute (seconds since the epoch, as uPlot wants it), then a value
 * for each of `SERIES`; null where nothing was measured.
 */
export type Point = readonly [number, ...(number | null)[]];

/** The charts' lines, in the order of a point's values. */
export const SERIES = [
  { label: "Stars", unit: "", of: "accepted", take: "count" },
  { label: "Already starred", unit: "", of: "refused ALREADY_STARRED", take: "count" },
  { label: "No votes left", unit: "", of: "refused ALLOWANCE_EXHAUSTED", take: "count" },
  { label: "Too many requests", unit: "", of: "limited", take: "count" },
  { label: "From star to ledger", unit: "s", of: "published", take: "mean" },
  { label: "Stars waiting (peak)", unit: "", of: "pending", take: "peak" },
  { label: "Mirror node", unit: "ms", of: "mirror", take: "mean" },
  { label: "Failed replies", unit: "", of: "failed", take: "count" },
] as const;

const MINUTE_MS = 60_000;
export const SHOWN_MINUTES = 60;
/** Minutes over which the lag is taken: one alone is often empty. */
export const LAG_MINUTES = 10;
/** Watchers of one process share what was read this long ago. */
const SHARED_MS = 2_000;

/** Reads the numbers; many askers at once cost one reading. */
export function numbersReader(sql: Sql): (now: number) => Promise<Numbers> {
  let last: { readonly at: number; readonly numbers: Promise<Numbers> } | undefined;
  return (now) => {
    if (last !== undefined && Math.abs(now - last.at) < SHARED_MS) return last.numbers;
    const numbers = readNumbers(sql, now);
    last = { at: now, numbers };
    // A failure is not shared with those who come later.
    numbers.catch(() => {
      last = undefined;
    });
    return numbers;
  };
}

async function readNumbers(sql: Sql, now: number): Promise<Numbers> {
  const since = now - SHOWN_MINUTES * MINUTE_MS;
  const [deltas, processes, pending, check, verdict] = await Promise.all([
    readDeltas(sql, since),
    readProcesses(sql, since),
    pendingPublications(sql),
    lastCheck(sql),
    readVerdict(sql),
  ]);
  const hour = new Map<string, number>();
  for (const { name, count } of deltas) hour.set(name, (hour.get(name) ?? 0) + count);
  const points = pointsOf(deltas, now);
  const lately = deltas.filter(({ minute }) => minute > Math.floor(now / MINUTE_MS) - LAG_MINUTES);
  const lagSeconds = readingOf({ of: "published", take: "mean" }, lately);
  return { at: now, points, lagSeconds, hour, processes, check, verdict, ...pending };
}

/** One point for each minute, also for those in which nothing happened. */
function pointsOf(deltas: readonly MinuteDelta[], now: number): readonly Point[] {
  const last = Math.floor(now / MINUTE_MS);
  return Array.from({ length: SHOWN_MINUTES }, (_, index) => {
    const minute = last - SHOWN_MINUTES + 1 + index;
    const known = deltas.filter((delta) => delta.minute === minute);
    return [minute * 60, ...SERIES.map((series) => readingOf(series, known))] as const;
  });
}

function readingOf(
  { of, take }: Pick<(typeof SERIES)[number], "of" | "take">,
  known: readonly MinuteDelta[],
): number | null {
  // A count may have parts, named by a second word.
  const mine = known.filter(({ name }) => name === of || name.startsWith(`${of} `));
  const count = mine.reduce((sum, delta) => sum + delta.count, 0);
  if (take === "count") return count;
  if (count === 0) return null;
  const value =
    take === "peak"
      ? Math.max(...mine.map(({ peak }) => peak))
      : mine.reduce((sum, { total }) => sum + total, 0) / count;
  return Math.round(value * 100) / 100;
}
