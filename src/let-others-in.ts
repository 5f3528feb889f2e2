/**
 * Ends a piece of a long computation: whatever else this process has to do comes first. A promise
 * alone would not do, its followers run before anything that waits.
 */
export function letOthersIn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
