/**
 * Gathers all loads asked for in one turn of the event loop into one call, so that a
 * hundred requests read from the database once, not a hundred times.
 *
 * Whatever is asked before the call starts is answered from data read after it was asked:
 * nothing is remembered between turns, so nothing can be stale.
 *
 * @param load answers one value per key, in the keys' order; the same key may occur twice
 * @param maxBatch most keys of one call; more are split over several
 * @returns a function that loads one key; it rejects with whatever `load` of its batch threw
 */
export function batchPerTick<K, V>(
  load: (keys: readonly K[]) => Promise<readonly V[]>,
  maxBatch: number,
): (key: K) => Promise<V> {
  let waiting: Waiting<K, V>[] = [];
  const flush = (): void => {
    const gathered = waiting;
    waiting = [];
    for (let start = 0; start < gathered.length; start += maxBatch) {
      void settle(load, gathered.slice(start, start + maxBatch));
    }
  };
  return (key) =>
    new Promise((resolve, reject) => {
      // After the poll phase: every socket that was readable in this turn has been read.
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ key, resolve, reject });
    });
}

interface Waiting<K, V> {
  readonly key: K;
  readonly resolve: (value: V) => void;
  readonly reject: (reason: unknown) => void;
}

async function settle<K, V>(
  load: (keys: readonly K[]) => Promise<readonly V[]>,
  batch: readonly Waiting<K, V>[],
): Promise<void> {
  try {
    const values = await load(batch.map(({ key }) => key));
    if (values.length !== batch.length) {
      throw new RangeError(`a load of ${batch.length} keys answered ${values.length} values`);
    }
    batch.forEach(({ resolve }, index) => {
      resolve(values[index] as V);
    });
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
