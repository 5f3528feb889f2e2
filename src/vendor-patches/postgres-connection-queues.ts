/** One of the queues in which postgres.js keeps a pool's connections: free, busy, and so on. */
interface ConnectionQueue {
  readonly length: number;
  push(connection: unknown): unknown;
  shift(): unknown;
}

/** A statement of postgres.js, as far as this changes it. */
interface Statement {
  /** The hook is called at the statement's start: true lets the connection take more. */
  readonly options: { onexecute?: (connection: { readonly queue: ConnectionQueue }) => true };
}

/** Searched through in a tenth of a microsecond; emptied so rarely that it costs nothing. */
const TAKEN_MAX = 256;

const taken = new WeakMap<ConnectionQueue, number>();

/**
 * postgres.js 3.4.9 (`src/queue.js`) takes connections from an array by raising an index, and
 * frees the used places only when the queue is empty. The queue of free connections is rarely
 * empty, that of busy ones hardly ever. So it grows by eight bytes a statement without end, and
 * each statement searches through all of it: milliseconds after some millions of statements.
 * Emptying the queue and filling it again in the same order frees the places.
 */
export function keepQueuesShort({ options }: Statement): void {
  options.onexecute = onexecute;
}

/** Called with the connection while it still stands in the queue it was taken from. */
function onexecute({ queue }: { readonly queue: ConnectionQueue }): true {
  const count = (taken.get(queue) ?? 0) + 1;
  if (count >= TAKEN_MAX) beginAnew(queue);
  taken.set(queue, count % TAKEN_MAX);
  return true;
}

function beginAnew(queue: ConnectionQueue): void {
  // An empty one starts from its front again by itself, at the latest with the next one taken.
  const connections = Array.from({ length: queue.length }, () => queue.shift());
  for (const connection of connections) queue.push(connection);
}
