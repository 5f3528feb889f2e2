/**
 * Gathers what is asked into few calls: a call begins at once when hardly any is under way, and
 * otherwise takes with it all that has been asked since. So a busy process asks its neighbours
 * as seldom as an idle one, while one request alone waits for nobody.
 *
 * Whatever is asked before a call begins is answered from what was read after it was asked.
 *
 * @param load answers one value per key, in the keys' order
 * @returns a function that asks for one key; it rejects with whatever `load` of its call threw
 */
export function inFlights<K, V>(
  load: (keys: readonly K[]) => Promise<readonly (V | Promise<V>)[]>,
): (key: K) => Promise<V> {
  const waiting: Waiting<K, V>[] = [];
  let underWay = 0;
  let isDue = false;
  let late: NodeJS.Timeout | undefined;

  const depart = (): void => {
    isDue = false;
    clearTimeout(late);
    late = undefined;
    const gathered = waiting.splice(0, KEYS_MAX);
    if (gathered.length === 0) return;
    underWay += 1;
    void settle(load, gathered).finally(() => {
      underWay -= 1;
      departSoon();
    });
    if (waiting.length > 0) departSoon();
  };
  const departSoon = (): void => {
    if (waiting.length === 0 || isDue) return;
    if (underWay >= FLIGHTS_MAX) {
      late ??= setTimeout(depart, WAIT_MS_MAX);
      return;
    }
    isDue = true;
    // After the poll phase: every socket that was readable in this turn has been read.
    setImmediate(depart);
  };
  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
      departSoon();
    });
}

/** One is on its way while the other is made ready or read. */
const FLIGHTS_MAX = 2;
/** A call that hangs holds up the next this long and no longer. */
const WAIT_MS_MAX = 20;
/** One statement's worth. */
const KEYS_MAX = 500;

interface Waiting<K, V> {
  readonly key: K;
  readonly resolve: (value: V | Promise<V>) => void;
  readonly reject: (reason: unknown) => void;
}

async function settle<K, V>(
  load: (keys: readonly K[]) => Promise<readonly (V | Promise<V>)[]>,
  batch: readonly Waiting<K, V>[],
): Promise<void> {
  try {
    const values = await load(batch.map(({ key }) => key));
    batch.forEach(({ resolve }, index) => {
      resolve(values[index] as V | Promise<V>);
    });
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
