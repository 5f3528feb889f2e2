/** A part of the product that runs until it is closed. */
export interface Service {
  /** Takes no more work, finishes what is under way, and lets go of everything. Never rejects. */
  close(): Promise<void>;
}

/**
 * Parts of one whole, which close the one added last first: none loses what it depends on.
 */
export function closedInTurn() {
  const parts: Service[] = [];
  return {
    add<S extends Service>(part: S): S {
      parts.push(part);
      return part;
    },
    async close(): Promise<void> {
      for (const part of parts.splice(0).reverse()) await part.close();
    },
  };
}

/** How a repeated piece of work runs. */
export interface Repetition {
  /** Called with what a run threw; the next run comes all the same. */
  readonly onFailure?: (error: unknown) => void;
  /** Before the first run; the same as between runs when absent. */
  readonly firstAfterMs?: number;
}

export interface Repeating extends Service {
  /** Runs at once, or directly after the run under way: for a wake-up. */
  wake(): void;
}

/**
 * Repeats work with a pause between runs, one run at a time. The timer keeps no process alive.
 *
 * @param pauseMs from the end of one run to the start of the next, in milliseconds; a function is
 *   asked at each end
 * @param work one run; it may throw
 */
export function every(
  pauseMs: number | (() => number),
  work: () => Promise<void> | void,
  { onFailure, firstAfterMs }: Repetition = {},
): Repeating {
  const nextPauseMs = () => (typeof pauseMs === "number" ? pauseMs : pauseMs());
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isClosed = false;
  let isWoken = false;
  const schedule = (afterMs: number): void => {
    timer = setTimeout(run, afterMs).unref();
  };
  const run = (): void => {
    isWoken = false;
    running = attempt().finally(() => {
      running = undefined;
      if (!isClosed) schedule(isWoken ? 0 : nextPauseMs());
    });
  };
  const attempt = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      onFailure?.(error);
    }
  };
  schedule(firstAfterMs ?? nextPauseMs());
  return {
    wake() {
      if (isClosed) return;
      isWoken = true;
      if (running !== undefined) return;
      clearTimeout(timer);
      run();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
