import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { temporaryFolder } from "./folder.ts";
import { commandOf, findLeftovers } from "./leftovers.ts";
import { NEXT_FILE } from "./next-file.ts";
import { nameSources } from "./source-places.ts";

/** One test file. */
export interface TestFile {
  /** As it is shown. */
  readonly name: string;
  /** Its TypeScript source. */
  readonly source: string;
}

/** Test files that run one after another in a process of their own. */
export interface TestProcess {
  readonly files: readonly TestFile[];
  /** What follows `node`. */
  readonly arguments: readonly string[];
}

/** What became of one test file. */
export interface FileResult {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
  /** What is wrong with the file as a whole, beyond its failed tests. */
  readonly complaint: string | undefined;
  readonly output: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const TIMEOUT_SECONDS = 120;
/** A file may ask for another limit in its first lines. */
const TIMEOUT_LINE = /^\/\/ timeout: (\d+) s$/m;
/** … or for a process of its own. */
const ALONE_LINE = /^\/\/ alone: /m;
const HEAD_CHARACTERS = 500;
const COUNTS = /^ {2}Total: +(\d+)\n {2}Passed: +(\d+)\n {2}Skipped: +(\d+)$/m;
/** A file whose tests failed may have left open what keeps the process up; all tests are over. */
const FAILED_PATIENCE_MS = 3_000;
/** Of a process that lets others go first, as `nice` counts it. */
const NICENESS = 5;
/** A process that left the file's process group may hold its pipes open. */
const LAST_WORDS_MS = 1_000;

/**
 * Runs test files as one process, in a process group of its own, so that a watchdog can end it
 * with everything it started: after its time, and soon after its tests when any of them failed.
 * What outlives it is ended and counts as a failure of the file that ran last.
 *
 * @param stop ends the process at once when aborted
 * @returns what became of each file, in their order
 */
export async function runTestProcess(
  given: TestProcess,
  env: Environment,
  stop: AbortSignal,
): Promise<readonly FileResult[]> {
  const folder = temporaryFolder("test-file");
  const run = await runProcess(given, { ...env, STARBOARD_TEST_FOLDER: folder }, stop);
  const left = await endLeftovers(folder);
  rmSync(folder, { recursive: true, force: true });
  // The test library ends with 1 to say that tests failed, which the counts say already.
  const isExplained = run.failure === "exit status 1" && run.parts.some(hasFailed);
  const leftBehind = left.length === 0 ? undefined : `left behind ${left.join("; ")}`;
  const failure = (isExplained ? undefined : run.failure) ?? leftBehind;
  const last = run.parts.length - 1;
  return given.files.map(({ name }, index) => {
    const { output, seconds } = run.parts[index] ?? { output: "", seconds: 0 };
    const isOver = index < last && countsOf(output) !== undefined;
    const reason = index > last ? "did not run" : isOver ? undefined : failure;
    const judged = judge(output, reason);
    return { name, seconds, output: judged.failed === 0 ? output : nameSources(output), ...judged };
  });
}

/** What one file printed, and how long it took. */
interface Part {
  readonly output: string;
  readonly seconds: number;
}

interface Run {
  /** Of each file that began. */
  readonly parts: readonly Part[];
  /** Undefined when it ended well. */
  readonly failure: string | undefined;
}

async function runProcess(given: TestProcess, env: Environment, stop: AbortSignal): Promise<Run> {
  const child = spawn(process.execPath, given.arguments, {
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  giveWay(child.pid);
  const parts = collectParts(child.stdout, child.stderr);
  const seconds = secondsOf(given.files);
  let cut: string | undefined;
  const end = (why: string): void => {
    cut ??= why;
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  };
  const watchdog = setTimeout(() => end(`no end after ${seconds} s`), seconds * 1_000);
  let patience: NodeJS.Timeout | undefined;
  child.stdout.on("data", () => {
    const all = parts();
    if (patience !== undefined || all.length < given.files.length) return;
    if (countsOf(all.at(-1)?.output ?? "") === undefined || !all.some(hasFailed)) return;
    patience = setTimeout(() => end("no end after tests failed"), FAILED_PATIENCE_MS);
  });
  const onStop = (): void => end("interrupted");
  stop.addEventListener("abort", onStop);
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  stop.removeEventListener("abort", onStop);
  clearTimeout(watchdog);
  clearTimeout(patience);
  await Promise.race([once(child, "close"), delay(LAST_WORDS_MS)]);
  return { parts: parts(), failure: cut ?? signal ?? (code ? `exit status ${code}` : undefined) };
}

/**
 * Lets the cores serve what all test files share before this process and what it starts, so that
 * a busy machine makes a file slow and no answer of the shared Postgres late.
 */
export function giveWay(pid: number | undefined): void {
  if (pid !== undefined) setPriority(pid, Math.max(NICENESS, getPriority(pid)));
}

async function endLeftovers(folder: string): Promise<readonly string[]> {
  const pids = await findLeftovers(folder);
  return pids.map((pid) => {
    const report = `process ${pid} (${commandOf(pid)})`;
    process.kill(pid, "SIGKILL");
    return report;
  });
}

/** Undefined until all tests of a file have run. */
function countsOf(
  output: string,
): { readonly total: number; readonly passed: number; readonly skipped: number } | undefined {
  const [total, passed, skipped] = COUNTS.exec(stripVTControlCharacters(output))?.slice(1) ?? [];
  if (total === undefined) return undefined;
  return { total: Number(total), passed: Number(passed), skipped: Number(skipped) };
}

function hasFailed({ output }: Part): boolean {
  const counts = countsOf(output);
  return counts !== undefined && counts.passed < counts.total;
}

/** Puts what the file counted together with how it ended. */
function judge(
  output: string,
  failure: string | undefined,
): Pick<FileResult, "passed" | "failed" | "skipped" | "complaint"> {
  const { total, passed, skipped } = countsOf(output) ?? { total: 0, passed: 0, skipped: 0 };
  const empty = total + skipped === 0 ? "has no tests" : undefined;
  const complaint = failure ?? empty;
  const failed = total - passed + (complaint === undefined ? 0 : 1);
  return { passed, failed, skipped, complaint };
}

/** The seconds in which files that run one after another have to end. */
export function secondsOf(files: readonly TestFile[]): number {
  return files.reduce((sum, file) => sum + (timeoutOf(file) ?? TIMEOUT_SECONDS), 0);
}

/** The seconds that a file asks for; undefined where it asks for none. */
function timeoutOf(file: TestFile): number | undefined {
  const asked = TIMEOUT_LINE.exec(headOf(file));
  return asked === null ? undefined : Number(asked[1]);
}

/** Whether a file cannot share a process, as its first lines say: it asks for time, or says why. */
export function isAlone(file: TestFile): boolean {
  return timeoutOf(file) !== undefined || ALONE_LINE.test(headOf(file));
}

function headOf({ source }: TestFile): string {
  return readFileSync(source, "utf8").slice(0, HEAD_CHARACTERS);
}

/** What arrives, parted where a line says that the next file begins. */
function collectParts(...streams: readonly Readable[]): () => readonly Part[] {
  const parts = [{ output: "", startedAt: performance.now(), endedAt: performance.now() }];
  for (const stream of streams) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      const now = performance.now();
      for (const [index, output] of text.split(NEXT_FILE).entries()) {
        if (index > 0) parts.push({ output: "", startedAt: now, endedAt: now });
        const part = parts.at(-1);
        if (part === undefined) continue;
        part.output += output;
        part.endedAt = now;
      }
    });
  }
  return () =>
    parts.map(({ output, startedAt, endedAt }) => ({
      output,
      seconds: (endedAt - startedAt) / 1_000,
    }));
}
