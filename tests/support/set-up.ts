import "uvu";

/** What a suite of the test library ends with: the texts of its failures, or true without any. */
type Ended = readonly [failures: string | true, passed: number, skipped: number, total: number];

/**
 * The test library drops what a hook throws, runs no further test and ends well. Wherever a test
 * prepares itself with what imports this file, its process ends with 1 then.
 */
const [queue] = (globalThis as unknown as { UVU_QUEUE: (() => Promise<Ended>)[][] }).UVU_QUEUE;
if (queue !== undefined) {
  queue.push = (run) => {
    queue[queue.length] = async () => {
      const [failures, passed, skipped, total] = await run();
      const isCut = failures === true && passed < total;
      const said = "  A hook failed. With `setUp` around it, it says how.\n";
      return [isCut ? said : failures, passed, skipped, total];
    };
    return queue.length;
  };
}

/** Makes a hook that shows what it throws, which the test library does not. */
export function setUp<C>(work: (context: C) => Promise<void>): (context: C) => Promise<void> {
  return async (context) => {
    try {
      await work(context);
    } catch (error) {
      console.error(error);
      throw error;
    }
  };
}
