import "uvu";

/** What a suite of the test library ends with: the texts of its failures, or true without any. */
type Ended = readonly [failures: string | true, passed: number, skipped: number, total: number];

const SAID = "  A hook failed. With `setUp` around it, it says how.\n";

/**
 * The test library drops what a hook throws, runs no further test and ends well; what the last hook
 * throws, as where the first one has left it nothing to close, ends the process at once, and files
 * that share it do not run. A process that guards the hooks of a file goes on, and ends with 1; it
 * does so from where a file imports this one, and for each of several files.
 */
export function guardHooks(suites: (() => Promise<Ended>)[]): void {
  suites.push = (run) => {
    suites[suites.length] = async () => {
      const [failures, passed, skipped, total] = await run().catch(threw);
      const isCut = failures === true && passed < total;
      return [isCut ? SAID : failures, passed, skipped, total];
    };
    return suites.length;
  };
}

const [suites] = (globalThis as unknown as { UVU_QUEUE: (() => Promise<Ended>)[][] }).UVU_QUEUE;
if (suites !== undefined) guardHooks(suites);

/** What the tests before it came to is lost. */
function threw(error: unknown): Ended {
  console.error(error);
  return [SAID, 0, 0, 1];
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
