import { setFlagsFromString } from "node:v8";

/**
 * How much the heap may grow between two full collections, percent of what the last one left.
 * V8 takes up to 300 where the machine has memory: a worker that keeps 50 MB then swings between
 * 220 and 350 MB, because a star lives for about a second, just long enough to be moved to the
 * old generation. At 30 it stays below 200 MB, at the same rate and CPU per message.
 */
const GROWTH_PERCENT = 30;

/**
 * Keeps this process' memory near what it uses. V8 reads the flag at each full collection, so it
 * holds however the process was started. (The young generation is sized before; see bin/starboard.)
 */
export function growHeapSlowly(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
