import { batcher } from "../../batcher.ts";
import type { Clock } from "../../clock.ts";
import { type Representation, represent } from "./representation.ts";

/** What an endpoint shows, and until when the clock alone changes nothing about it. */
export interface Shown<T> {
  readonly body: T;
  /** Epoch milliseconds, exclusive; `Infinity` when only a change of data changes it. */
  readonly until: number;
}

/** A question, with the state of the data that its answer must not be older than. */
export interface Asked {
  /** Equal for equal questions. */
  readonly question: string;
  /** As it was read after the question was asked; see `revisionOf`. */
  readonly revision: string;
  readonly read: (now: number) => Promise<Shown<unknown>>;
}

interface Kept {
  readonly revision: string;
  readonly from: number;
  readonly until: number;
  readonly shown: Representation;
}

export type ResponseCache = ReturnType<typeof responseCache>;

/** All bodies together; the compressed ones add about a fifth. The oldest go first. */
const BYTES_MAX = 32 * 1024 * 1024;
/** What keeping one costs beside its bytes: pages past the end are many and nearly empty. */
const KEPT_BYTES = 1_024;

/**
 * Keeps rendered bodies while what they show stands: the data, by its revision, and the
 * instants at which the clock alone changes an answer (the full hour, a start, an end).
 *
 * A body belongs to a revision that was read before its data, and is used only for a question
 * whose own revision, read after it was asked, is the same: nothing was committed in between.
 */
export function responseCache(clock: Clock, bytesMax = BYTES_MAX) {
  const share = shareReads<Kept>();
  const kept = new Map<string, Kept>();
  let bytes = 0;

  const drop = (question: string): void => {
    const known = kept.get(question);
    if (known === undefined) return;
    bytes -= costOf(known);
    kept.delete(question);
  };
  const keep = (question: string, made: Kept): void => {
    drop(question);
    kept.set(question, made);
    bytes += costOf(made);
    for (const oldest of kept.keys()) {
      if (bytes <= bytesMax) return;
      drop(oldest);
    }
  };
  return {
    find({ question, revision }: Asked): Representation | undefined {
      const known = kept.get(question);
      if (known?.revision !== revision) return undefined;
      const now = clock.now();
      // A clock that was set back is before `from`.
      return known.from <= now && now < known.until ? known.shown : undefined;
    },
    /** Reads it, together with all who ask the same meanwhile. */
    async read({ question, revision, read }: Asked): Promise<Representation> {
      const made = await share(question, async () => {
        const from = clock.now();
        const { body, until } = await read(from);
        const fresh = { revision, from, until, shown: represent(body) };
        keep(question, fresh);
        return fresh;
      });
      return made.shown;
    },
  };
}

function costOf({ shown }: Kept): number {
  return KEPT_BYTES + shown.bytes.length;
}

/** A read that hangs holds up the next this long and no longer. */
const WAIT_FOR_CURRENT_MS = 100;

/**
 * Lets equal questions that wait at the same time share one read. A question joins only a
 * read that has not started, so its answer is never older than the question; a crowd asking
 * the same costs two reads at a time at most, however large it is.
 *
 * @returns a function that asks: `question` is equal for equal reads
 */
export function shareReads<V>(): (question: string, read: () => Promise<V>) => Promise<V> {
  const lanes = new Map<string, { readonly ask: Ask<V>; waiting: number }>();
  return async (question, read) => {
    const lane = lanes.get(question) ?? { ask: oneReadAtATime<V>(), waiting: 0 };
    lanes.set(question, lane);
    lane.waiting += 1;
    try {
      return await lane.ask(read);
    } finally {
      lane.waiting -= 1;
      if (lane.waiting === 0) lanes.delete(question);
    }
  };
}

type Ask<V> = (read: () => Promise<V>) => Promise<V>;

function oneReadAtATime<V>(): Ask<V> {
  return batcher(
    async (reads: readonly (() => Promise<V>)[]) => {
      const value = await reads[0]?.();
      return reads.map(() => value as V);
    },
    { keysMax: Number.POSITIVE_INFINITY, callsMax: 1, waitMsMax: WAIT_FOR_CURRENT_MS },
  );
}
