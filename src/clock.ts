/**
 * One clock for every process: Postgres' (contract, section 1). Its offset is
 * measured at boot and every ten seconds and applied to the machine's monotonic
 * timer, so a machine clock that is wrong, or jumps, changes nothing.
 */

/** Answers the time that rules go by. */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC, whole. */
  now(): number;
}

/** A clock that can be told to look at its source again. */
export interface FollowedClock extends Clock {
  /** Measures the offset anew; rejects when the source does not answer. */
  measure(): Promise<void>;
  /** Stops the periodic measuring. */
  stop(): void;
}

const MEASURE_EVERY_MS = 10_000;

/**
 * Follows a remote clock. The first measurement must succeed: a service that
 * does not know the time must not date a star.
 *
 * @param readSourceMs asks the source for its time, in epoch milliseconds
 * @param onFailure hears of later measurements that failed (the offset stands)
 */
export async function followClock(
  readSourceMs: () => Promise<number>,
  onFailure: (error: unknown) => void,
): Promise<FollowedClock> {
  let offsetMs = 0;
  const measure = async (): Promise<void> => {
    const sent = performance.now();
    const sourceMs = await readSourceMs();
    const received = performance.now();
    // The source read its clock somewhere between: the middle errs least.
    offsetMs = sourceMs - (sent + received) / 2;
  };
  await measure();
  const timer = setInterval(() => measure().catch(onFailure), MEASURE_EVERY_MS);
  timer.unref();
  return {
    now: () => Math.floor(performance.now() + offsetMs),
    measure,
    stop: () => clearInterval(timer),
  };
}
