import { bulkhead, isBulkheadRejectedError } from "cockatiel";
import { RetryableError } from "../errors.ts";

const READS_AT_ONCE = 4;
/** What one client may ask in a minute waits (`VOTING_RATE_LIMIT`): alone it overloads nothing. */
const READS_WAITING_MAX = 300;

/**
 * Bounds reads that need no key: a search counts all items, and votes share the connections, so
 * only a few run at once.
 *
 * @returns a function that reads in its turn; it throws RetryableError `UNAVAILABLE` where too many wait
 */
export function readGate(): <V>(read: () => Promise<V>) => Promise<V> {
  const gate = bulkhead(READS_AT_ONCE, READS_WAITING_MAX);
  return async (read) => {
    try {
      return await gate.execute(read);
    } catch (error) {
      if (!isBulkheadRejectedError(error)) throw error;
      throw new RetryableError("UNAVAILABLE", "too many lists are being read", 1, error);
    }
  };
}
