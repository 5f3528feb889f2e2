/**
 * Makes a hook that sets a suite up. The test library drops what such a hook throws, runs no test
 * and ends well; this one shows the error, and the process ends with 1.
 */
export function setUp<C>(work: (context: C) => Promise<void>): (context: C) => Promise<void> {
  return async (context) => {
    try {
      await work(context);
    } catch (error) {
      console.error(error);
      process.once("exit", () => {
        process.exitCode = 1;
      });
      throw error;
    }
  };
}
