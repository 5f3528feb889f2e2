import { batcher } from "../../batcher.ts";

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
