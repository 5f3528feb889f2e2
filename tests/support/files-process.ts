import { pathToFileURL } from "node:url";
import { NEXT_FILE } from "./next-file.ts";

/**
 * Runs test files one after another in this process: `node files-process.js FILE…`. Loading the
 * service's modules and warming them up takes longer than most files' tests. The tests of a file
 * and its hooks are over before the next file is loaded.
 */

/** Where uvu keeps the tests of loaded files, and how it is kept from running them by itself. */
const uvuGlobals = globalThis as { UVU_QUEUE?: unknown[][]; UVU_DEFER?: boolean };
const queue: unknown[][] = [];
uvuGlobals.UVU_QUEUE = queue;
uvuGlobals.UVU_DEFER = true;
const { exec } = await import("uvu");
const { guardHooks } = await import("./set-up.ts");

// Each file that opens servers adds its listeners for the end of the process.
process.setMaxListeners(0);

let status = 0;
for (const [index, file] of process.argv.slice(2).entries()) {
  if (index > 0) process.stdout.write(NEXT_FILE);
  const suites: unknown[] = [undefined];
  guardHooks(suites as Parameters<typeof guardHooks>[0]);
  queue.splice(0, queue.length, suites);
  await import(pathToFileURL(file).href);
  await exec();
  status ||= Number(process.exitCode ?? 0);
}
process.exitCode = status;
