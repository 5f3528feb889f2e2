import { bulkhead, isBulkheadRejectedError } from "cockatiel";
import { bounds } from "../bounds.ts";
import { RetryableError } from "../errors.ts";

const READS_AT_ONCE = 4;
/** What one client may ask in a minute waits (`VOTING_RATE_LIMIT`): alone it overloads nothing. */
const READS_WAITING_MAX = 300;
/** As long as a voting request may take, so none is read that was refused by then; a page waits as long. */
const WAITING_MS_MAX = bounds.statementDeadlineMs;

/**
 * Bounds reads that need no key: a search counts all items, and votes share the connections, so
 * only a few run at once.
 *
 * @param now a monotonic clock in milliseconds
 * @returns a function that reads in its turn; it throws RetryableError `UNAVAILABLE` where too many
 *   wait, or waited for too long
 */
export function readGate(
  now: () => number = () => performance.now(),
): <V>(read: () => Promise<V>) => Promise<V> {
  const gate = bulkhead(READS_AT_ONCE, READS_WAITING_MAX);
  return async (read) => {
    const askedAt = now();
    try {
      return await gate.execute(() => {
        if (now() - askedAt > WAITING_MS_MAX) throw overloaded();
        return read();
      });
    } catch (error) {
      throw isBulkheadRejectedError(error) ? overloaded(error) : error;
    }
  };
}

function overloaded(cause?: Error): RetryableError {
  return new RetryableError("UNAVAILABLE", "too many lists are being read", 1, cause);
}
