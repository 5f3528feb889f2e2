import { setMaxListeners } from "node:events";
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
  /** On the monotonic clock, `performance.now()`. */
  readonly endsAt: number;
  readonly background: boolean;
  /** The deadline passed, the caller gave up, or the read has settled: nobody waits any more. */
  readonly isOver: boolean;
  /**
   * Calls back once, when the read is over.
   *
   * @returns takes the callback away again
   */
  whenOver(callback: () => void): () => void;
}

/** For readers that name none: a slow page and its retries fit in, and a draining worker can wait it out. */
const DEADLINE_MS = 10_000;

/**
 * Runs a read within its limits. It settles when they end even if the read
 * does not, and whatever the read still holds is let go of then.
 *
 * A timer and a set of callbacks, where an abort signal would say it shorter:
 * signals made, joined and fired for every request were a third of what a
 * reading of holdings cost.
 *
 * @throws MirrorError "timeout" or "aborted" at the limits, else what the read throws
 */
export function within<T>(
  { deadlineMs = DEADLINE_MS, signal, background = false }: ReadLimits,
  read: (budget: Budget) => Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (signal?.aborted) return reject(gaveUp());
    const budget = new RunningBudget(performance.now() + deadlineMs, background);
    const settle = (how: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      how();
      budget.end();
    };
    const onAbort = (): void => settle(() => reject(gaveUp()));
    const timer = setTimeout(() => {
      settle(() => reject(new MirrorError("timeout", `no answer within ${deadlineMs} ms`)));
    }, deadlineMs);
    if (signal !== undefined) {
      // A worker may end hundreds of reads by one signal: that is no leak of listeners.
      setMaxListeners(0, signal);
      signal.addEventListener("abort", onAbort);
    }
    read(budget).then(
      (value) => settle(() => resolve(value)),
      (error) => settle(() => reject(error)),
    );
  });
}

function gaveUp(): MirrorError {
  return new MirrorError("aborted", "the reader gave up");
}

class RunningBudget implements Budget {
  readonly endsAt: number;
  readonly background: boolean;
  isOver = false;
  readonly #callbacks = new Set<() => void>();

  constructor(endsAt: number, background: boolean) {
    this.endsAt = endsAt;
    this.background = background;
  }

  whenOver(callback: () => void): () => void {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  end(): void {
    this.isOver = true;
    for (const callback of this.#callbacks) callback();
    this.#callbacks.clear();
  }
}
