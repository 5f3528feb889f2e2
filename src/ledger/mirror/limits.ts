import { setMaxListeners } from "node:events";
import { withDeadline } from "../../with-deadline.ts";
import { MirrorError } from "./error.ts";

/** How long a caller is ready to wait, and for what. */
export interface ReadLimits {
  /** For the whole read, waiting for a free connection and retries included; default 10 s. */
  readonly deadlineMs?: number | undefined;
  /** For one request of it; default all the time there is, shared with the nodes that may still answer. */
  readonly attemptMs?: number | undefined;
  /** Most pages of a list; default 1,000. */
  readonly pagesMax?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Work that must not stand before a star: it gets the smaller share of the connections, and
   * rests while the mirror node fails. Never set for a star's own read.
   */
  readonly background?: boolean;
  /** Shared by reads that have to be of one node. */
  readonly oneNode?: OneNode | undefined;
}

/**
 * Reads that share it are asked of no other node than the first of them that was answered: what
 * another node says may be of an earlier time.
 */
export interface OneNode {
  /** Set by the first answer. */
  node?: object;
}

/** For readers that name none: a slow page and its retries fit in, and a draining worker can wait it out. */
const DEADLINE_MS = 10_000;

/** Something that ends, and calls back when it does. */
export class Ending {
  isOver = false;
  readonly #callbacks = new Set<() => void>();

  /**
   * Calls back once, when it ends.
   *
   * @returns takes the callback away again
   */
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

/**
 * The limits of one read in progress; over once the deadline passed, the caller gave up, or the
 * read has settled: then nothing waits for it any more.
 *
 * It is a set of callbacks and no abort signal, which would be shorter: making, joining and firing
 * signals for every request was a third of the cost of reading holdings.
 */
export class Budget extends Ending {
  readonly deadlineMs: number;
  readonly attemptMs: number;
  readonly background: boolean;
  /** On the monotonic clock, `performance.now()`. */
  readonly endsAt: number;
  /** Why the request has to be asked again: the reason given where the deadline passes meanwhile. */
  lastFailure: MirrorError | undefined;
  readonly oneNode: OneNode | undefined;
  /** The nodes that it asks after all others, as they were when it began. */
  askedLast: ReadonlySet<object> | undefined;

  constructor({ deadlineMs = DEADLINE_MS, attemptMs, background = false, oneNode }: ReadLimits) {
    super();
    this.deadlineMs = deadlineMs;
    this.attemptMs = attemptMs ?? Number.POSITIVE_INFINITY;
    this.background = background;
    this.oneNode = oneNode;
    this.endsAt = performance.now() + deadlineMs;
  }
}

/**
 * Runs a read within its limits. It settles when they end even if the read does not; the read then
 * gives up its connections.
 *
 * @throws MirrorError at the limits: the last failure of what is being tried again, else "timeout"
 *   or "aborted"; before them what the read throws
 */
export async function within<T>(
  limits: ReadLimits,
  read: (budget: Budget) => Promise<T>,
): Promise<T> {
  const { signal } = limits;
  if (signal?.aborted) throw gaveUp();
  const budget = new Budget(limits);
  const work = signal === undefined ? read(budget) : unlessAborted(signal, budget, read);
  try {
    return await withDeadline(work, budget.deadlineMs, () => tooLate(budget));
  } finally {
    budget.end();
  }
}

function unlessAborted<T>(
  signal: AbortSignal,
  budget: Budget,
  read: (budget: Budget) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(gaveUp());
    // A worker may end hundreds of reads by one signal: that is no leak of listeners.
    setMaxListeners(0, signal);
    signal.addEventListener("abort", onAbort);
    budget.whenOver(() => signal.removeEventListener("abort", onAbort));
    read(budget).then(resolve, reject);
  });
}

/** Waits, but not beyond the end of any of these. */
export function pauseUnlessOver(ms: number, endings: readonly Ending[]): Promise<void> {
  return new Promise((resolve) => {
    if (endings.some(({ isOver }) => isOver)) return resolve();
    const wake = (): void => {
      clearTimeout(timer);
      for (const forget of forgets) forget();
      resolve();
    };
    const timer = setTimeout(wake, ms);
    const forgets = endings.map((ending) => ending.whenOver(wake));
  });
}

function tooLate({ lastFailure, deadlineMs }: Budget): MirrorError {
  return lastFailure ?? new MirrorError("timeout", `no answer within ${deadlineMs} ms`);
}

function gaveUp(): MirrorError {
  return new MirrorError("aborted", "the reader gave up");
}
