/**
 * Ends a piece of a long computation: all other work of this process that waits comes first. A
 * promise alone would not do, its followers run before anything that waits.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
