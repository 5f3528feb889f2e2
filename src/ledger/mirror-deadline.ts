import { setMaxListeners } from "node:events";
// `isTaskCancelledError` of this version looks for the mark of another error.
import { TaskCancelledError, TimeoutStrategy, timeout } from "cockatiel";
import { MirrorError } from "./mirror-error.ts";

/** How long a caller is ready to wait, and for what. */
export interface ReadLimits {
  /** For the whole read, waiting for a free connection and retries included; default 10 s. */
  readonly deadlineMs?: number;
  /** Ends the read early. */
  readonly signal?: AbortSignal;
  /**
   * Work nobody waits for: it gets the smaller share of the connections, and
   * rests while the mirror node fails. Never set for a star's own read.
   */
  readonly background?: boolean;
}

/** The limits of one read in progress. */
export interface Budget {
  /** Aborts when the deadline passes, the caller gives up, or the read is over. */
  readonly signal: AbortSignal;
  /** On the monotonic clock, `performance.now()`. */
  readonly endsAt: number;
  readonly background: boolean;
}

/** For readers that name none: a slow page and its retries fit in, and a draining worker can wait it out. */
const DEADLINE_MS = 10_000;

/**
 * Runs a read within its limits. It settles when they end even if the read
 * does not, and whatever the read still holds is aborted then.
 *
 * @throws MirrorError "timeout" or "aborted" at the limits, else what the read throws
 */
export async function within<T>(
  { deadlineMs = DEADLINE_MS, signal, background = false }: ReadLimits,
  read: (budget: Budget) => Promise<T>,
): Promise<T> {
  // A worker may end hundreds of reads by one signal: that is no leak of listeners.
  if (signal !== undefined) setMaxListeners(0, signal);
  const endsAt = performance.now() + deadlineMs;
  try {
    return await timeout(deadlineMs, TimeoutStrategy.Aggressive).execute(
      (context) => read({ signal: context.signal, endsAt, background }),
      signal,
    );
  } catch (error) {
    if (signal?.aborted) throw new MirrorError("aborted", "the reader gave up", error);
    if (!(error instanceof TaskCancelledError)) throw error;
    throw new MirrorError("timeout", `no answer within ${deadlineMs} ms`, error);
  }
}
