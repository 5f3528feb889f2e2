import { bulkhead, isBulkheadRejectedError } from "cockatiel";
import { RetryableError } from "../errors.ts";

const READS_AT_ONCE = 4;
/** Of reads that take a millisecond, as most do, so many are done in a fraction of a second. */
const READS_WAITING_MAX = 1_000;
/** What has waited longer is not begun: with the read itself it would be late. */
const WAIT_MS_MAX = 1_000;

/**
 * Bounds reads that need no key: a search counts all items, and votes share the connections, so
 * only a few run at once.
 *
 * @returns a function that reads in its turn; it throws RetryableError `UNAVAILABLE` where too many
 *   wait, or the turn comes too late
 */
export function readGate(): <V>(read: () => Promise<V>) => Promise<V> {
  const gate = bulkhead(READS_AT_ONCE, READS_WAITING_MAX);
  return async (read) => {
    const askedAt = performance.now();
    const unlessLate = () => {
      if (performance.now() - askedAt > WAIT_MS_MAX) throw tooMany();
      return read();
    };
    try {
      return await gate.execute(unlessLate);
    } catch (error) {
      throw isBulkheadRejectedError(error) ? tooMany(error) : error;
    }
  };
}

function tooMany(cause?: unknown): RetryableError {
  return new RetryableError("UNAVAILABLE", "too many lists are being read", 1, cause);
}
