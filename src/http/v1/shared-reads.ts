/**
 * Lets equal questions that wait at the same time share one read. A question joins only a
 * read that has not begun, so its answer is never older than the question; a crowd asking
 * the same costs two reads at a time at most, however large it is.
 *
 * @returns a function that asks: `question` is equal for equal reads
 */
export function shareReads<V>(): (question: string, read: () => Promise<V>) => Promise<V> {
  const lanes = new Map<string, Lane<V>>();
  return (question, read) => {
    const lane = lanes.get(question) ?? {};
    lanes.set(question, lane);
    lane.next ??= begin({ lane, read, onIdle: () => lanes.delete(question) });
    return lane.next;
  };
}

interface Lane<V> {
  /** Not begun: still open to join. */
  next?: Promise<V> | undefined;
  /** Under way. */
  current?: Promise<unknown> | undefined;
}

/** A read that hangs holds up the next this long and no longer. */
const WAIT_FOR_CURRENT_MS = 100;

async function begin<V>(given: {
  lane: Lane<V>;
  read: () => Promise<V>;
  onIdle: () => void;
}): Promise<V> {
  const { lane, read, onIdle } = given;
  await (lane.current === undefined ? nextTick() : settledOrLate(lane.current));
  lane.next = undefined;
  const reading = read();
  lane.current = reading;
  try {
    return await reading;
  } finally {
    if (lane.current === reading) lane.current = undefined;
    if (lane.current === undefined && lane.next === undefined) onIdle();
  }
}

/** After the poll phase: requests that arrived together ask together. */
function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function settledOrLate(current: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, WAIT_FOR_CURRENT_MS);
  });
  await Promise.race([current.catch(() => undefined), late]);
  clearTimeout(timer);
}
