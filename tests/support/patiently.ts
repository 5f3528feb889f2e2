import { setTimeout as delay } from "node:timers/promises";
import { RetryableError } from "../../src/errors.ts";

/** No machine is busy for longer: what is refused until then is out of reach. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 20;

/**
 * Does what a busy machine may refuse for want of time again, as a client does, until it is done.
 * What a test asks of the answer is asked of the one that came.
 */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RetryableError) || performance.now() > giveUpAt) throw error;
      await delay(PAUSE_MS);
    }
  }
}
