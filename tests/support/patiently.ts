import { RetryableError } from "../../src/errors.ts";

/**
 * Does what a busy machine may refuse for want of time again, as a client does, until it is done.
 * What a test asks of the answer is asked of the one that came.
 */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RetryableError)) throw error;
    }
  }
}
