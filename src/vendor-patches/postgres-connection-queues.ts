/** One of the queues in which postgres.js keeps a pool's connections: free, busy, and so on. */
interface ConnectionQueue {
  readonly length: number;
  push(connection: unknown): unknown;
  shift(): unknown;
}

/** The hook of a postgres.js statement called at its start: true lets the connection take more. */
interface Statement {
  readonly options: { onexecute?: (connection: { readonly queue: ConnectionQueue }) => true };
}

/** Searched through in a tenth of a microsecond; emptied so rarely that it costs nothing. */
const TAKEN_MAX = 256;

/**
 * postgres.js 3.4.9 (`src/queue.js`) takes connections from an array by raising an index, and
 * frees the used places only when the queue is empty. The queue of free connections is rarely
 * empty, that of busy ones hardly ever. So it grows by eight bytes a statement without end, and
 * each statement searches through all of it: milliseconds after some millions of statements.
 * Emptying the queue and filling it again in the same order frees the places.
 *
 * @returns the pool, whose templates see to that
 */
export function keepQueuesShort<Pool extends (...given: never[]) => unknown>(pool: Pool): Pool {
  const taken = new WeakMap<ConnectionQueue, number>();
  /** Called with the connection while it still stands in the queue it was taken from. */
  const onexecute = ({ queue }: { readonly queue: ConnectionQueue }): true => {
    const count = (taken.get(queue) ?? 0) + 1;
    if (count >= TAKEN_MAX) beginAnew(queue);
    taken.set(queue, count % TAKEN_MAX);
    return true;
  };
  return new Proxy(pool, {
    apply(target, self, args: Parameters<Pool>) {
      const made = Reflect.apply(target, self, args);
      if (isStatement(made)) made.options.onexecute = onexecute;
      return made;
    },
  });
}

function beginAnew(queue: ConnectionQueue): void {
  // An empty one starts from its front again by itself, at the latest with the next one taken.
  const connections = Array.from({ length: queue.length }, () => queue.shift());
  for (const connection of connections) queue.push(connection);
}

/** Names and lists are made by the same function as statements. */
function isStatement(made: unknown): made is Statement {
  return made instanceof Promise && "options" in made;
}
