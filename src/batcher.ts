export interface Batching {
  /** Most keys of one call; more are split over several. */
  readonly keysMax: number;
  /** Calls under way at most: further keys wait until one ends. No bound when absent. */
  readonly callsMax?: number;
  /** A call that hangs holds up the keys behind it this long and no longer, in milliseconds. */
  readonly waitMsMax?: number;
}

const WAIT_MS_MAX = 20;

/**
 * Gathers all keys asked for in one turn of the event loop into one call, so that a hundred
 * requests read from the database once. Where the calls under way are bounded, a call takes
 * with it all that was asked while it had to wait.
 *
 * A key asked for before its call starts is answered from data read after it was asked: nothing
 * is remembered between calls, so nothing is stale.
 *
 * @param load answers one value per key, in the keys' order; the same key may occur twice
 * @returns a function that loads one key; it rejects with what `load` of its call threw
 */
export function batcher<K, V>(
  load: (keys: readonly K[]) => Promise<readonly (V | Promise<V>)[]>,
  { keysMax, callsMax = Number.POSITIVE_INFINITY, waitMsMax = WAIT_MS_MAX }: Batching,
): (key: K) => Promise<V> {
  const waiting: Waiting<K, V>[] = [];
  let underWay = 0;
  let isDue = false;
  let late: NodeJS.Timeout | undefined;

  const call = (): void => {
    underWay += 1;
    void settle(load, waiting.splice(0, keysMax)).then(() => {
      underWay -= 1;
      callSoon();
    });
  };
  const flush = (): void => {
    isDue = false;
    clearTimeout(late);
    late = undefined;
    // The first goes even where all calls are under way: then its keys have waited long enough.
    if (waiting.length > 0) call();
    while (waiting.length > 0 && underWay < callsMax) call();
    callSoon();
  };
  const callSoon = (): void => {
    if (waiting.length === 0 || isDue) return;
    if (underWay >= callsMax) {
      late ??= setTimeout(flush, waitMsMax);
      return;
    }
    isDue = true;
    // After the poll phase: every socket that was readable in this turn has been read.
    setImmediate(flush);
  };
  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      callSoon();
    });
}

interface Waiting<K, V> {
  readonly key: K;
  readonly resolve: (value: V | Promise<V>) => void;
  readonly reject: (reason: unknown) => void;
}

/** Never rejects. */
async function settle<K, V>(
  load: (keys: readonly K[]) => Promise<readonly (V | Promise<V>)[]>,
  batch: readonly Waiting<K, V>[],
): Promise<void> {
  try {
    const values = await load(batch.map(({ key }) => key));
    if (values.length !== batch.length) {
      throw new RangeError(`a load of ${batch.length} keys answered ${values.length} values`);
    }
    batch.forEach(({ resolve }, index) => {
      resolve(values[index] as V | Promise<V>);
    });
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
