import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const PATIENCE_MS = 3_000;

/**
 * Processes of a test file that outlived it: those that were given the file's
 * folder in their environment, or work in it. They get a moment to notice that
 * the file has ended. Sees nothing where there is no `/proc`.
 *
 * @param folder the file's own, as in `STARBOARD_TEST_FOLDER`
 */
export async function findLeftovers(folder: string): Promise<readonly number[]> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = processIds().filter((pid) => wasGiven(pid, folder) || worksIn(pid, folder));
    if (found.length === 0 || performance.now() > deadline) return found;
    await delay(50);
  }
}

/** The command line of a process, for a report. */
export function commandOf(pid: number): string {
  return read(() => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim());
}

function processIds(): readonly number[] {
  try {
    return readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid);
  } catch {
    return [];
  }
}

function wasGiven(pid: number, folder: string): boolean {
  const environ = read(() => readFileSync(`/proc/${pid}/environ`, "utf8"));
  return environ.split("\0").includes(`STARBOARD_TEST_FOLDER=${folder}`);
}

function worksIn(pid: number, folder: string): boolean {
  return read(() => readlinkSync(`/proc/${pid}/cwd`)).startsWith(folder);
}

/** Processes end while we look, and those of others are not ours to see. */
function read(from: () => string): string {
  try {
    return from();
  } catch {
    return "";
  }
}
