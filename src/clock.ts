/**
 * One clock for every process: Postgres' (contract, section 1). Its offset is
 * measured at boot and every ten seconds and applied to the machine's monotonic
 * timer, so a machine clock that is wrong, or jumps, changes nothing.
 */
import { every } from "./service.ts";

/** Gives the time that rules use. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC, whole. */
  now(): number;
}

/** A clock that can look at its source again. */
export type FollowedClock = Awaited<ReturnType<typeof followClock>>;

/**
 * Processes' clocks differ by less, one that cannot measure just now among them: what is dated further
 * ahead is from before the database's clock was set back.
 */
export const CLOCKS_DIFFER_MS = 60_000;

const MEASURE_EVERY_MS = 10_000;
/** The source answered at an unknown moment within a measurement: a longer one is too inexact. */
const PRECISE_MS = 100;
/** Two correct clocks never differ by more. */
const DIFFERENCE_MAX_MS = 100;

/**
 * Follows a remote clock. The first measurement must succeed: a service that
 * does not know the time must not date a star.
 *
 * @param readSourceMs asks the source for its time, in epoch milliseconds
 * @param onFailure called with later measurements that failed (the offset stands)
 */
export async function followClock(
  readSourceMs: () => Promise<number>,
  onFailure: (error: unknown) => void,
) {
  let offsetMs = 0;
  let isKnown = false;
  let isPrecise = false;
  const look = async (): Promise<void> => {
    const sent = performance.now();
    const sourceMs = await readSourceMs();
    const received = performance.now();
    // The source read its clock somewhere between: the middle errs least. After a long wait it
    // errs by up to half of that, so what is known already stands unless it cannot be true.
    isPrecise = received - sent <= PRECISE_MS;
    if (!isKnown || isPrecise) offsetMs = sourceMs - (sent + received) / 2;
    else offsetMs = Math.min(Math.max(offsetMs, sourceMs - received), sourceMs - sent);
    isKnown = true;
  };
  let looking: Promise<void> | undefined;
  const measure = (): Promise<void> => {
    // All stars of a midnight ask together.
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  let latest = Number.NEGATIVE_INFINITY;
  const now = (): number => {
    const at = Math.floor(performance.now() + offsetMs);
    // A measurement errs: a small correction lets the clock stand, only a jump sets it back.
    if (at > latest || at < latest - DIFFERENCE_MAX_MS) latest = at;
    return latest;
  };
  await measure();
  // The first answer waited for a connection as well, and a second one errs less.
  if (!isPrecise) await measure();
  const measuring = every(MEASURE_EVERY_MS, measure, { onFailure });
  return {
    now,
    /** Measures the offset again; rejects when the source does not answer. */
    measure,
    /**
     * Compares this clock with a time that an answer of the source carried, and measures where they
     * differ: so any statement notices a jump at once.
     *
     * @param sourceMs epoch milliseconds, read after `askedAt`
     * @param askedAt this clock's own time when the source was asked
     */
    async compare(sourceMs: number, askedAt: number): Promise<void> {
      const isEarly = sourceMs < askedAt - DIFFERENCE_MAX_MS;
      const isLate = sourceMs > now() + DIFFERENCE_MAX_MS;
      // The source was there a moment ago; if it is gone now, its offset stands.
      if (isEarly || isLate) await measure().catch(onFailure);
    },
    stop: (): void => void measuring.close(),
  };
}
