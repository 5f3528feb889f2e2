import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { temporaryFolder } from "./folder.ts";
import { commandOf, findLeftovers } from "./leftovers.ts";

/** One test file, and how it runs. */
export interface TestFile {
  /** As it is shown. */
  readonly name: string;
  /** Its TypeScript source. */
  readonly source: string;
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
const HEAD_CHARACTERS = 500;
const COUNTS = /^ {2}Total: +(\d+)\n {2}Passed: +(\d+)\n {2}Skipped: +(\d+)$/m;
/** A file whose tests failed may have left open what keeps it up; its tests are over. */
const FAILED_PATIENCE_MS = 3_000;
/** A process that left the file's process group may hold its pipes open. */
const LAST_WORDS_MS = 1_000;

/**
 * Runs one test file as a process of its own, in a process group of its own, so
 * that a watchdog can end it with everything it started: after its time, and soon
 * after its tests when one of them failed. What outlives it is ended and counts as
 * a failure.
 *
 * @param stop ends the file at once when aborted
 */
export async function runTestFile(
  file: TestFile,
  env: Environment,
  stop: AbortSignal,
): Promise<FileResult> {
  const started = performance.now();
  const folder = temporaryFolder("test-file");
  const run = await runProcess(file, { ...env, STARBOARD_TEST_FOLDER: folder }, stop);
  const left = await endLeftovers(folder);
  rmSync(folder, { recursive: true, force: true });
  const failure = run.failure ?? (left.length === 0 ? undefined : `left behind ${left.join("; ")}`);
  const seconds = (performance.now() - started) / 1_000;
  return { name: file.name, seconds, output: run.output, ...judge(run.output, failure) };
}

interface Run {
  readonly output: string;
  /** Undefined when it ended well. */
  readonly failure: string | undefined;
}

async function runProcess(file: TestFile, env: Environment, stop: AbortSignal): Promise<Run> {
  const child = spawn(process.execPath, file.arguments, {
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = collect(child.stdout, child.stderr);
  const seconds = timeoutOf(file) ?? TIMEOUT_SECONDS;
  let cut: string | undefined;
  const end = (why: string): void => {
    cut ??= why;
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  };
  const watchdog = setTimeout(() => end(`no end after ${seconds} s`), seconds * 1_000);
  let patience: NodeJS.Timeout | undefined;
  child.stdout.on("data", () => {
    const counts = patience === undefined ? countsOf(output()) : undefined;
    if (counts === undefined || counts.passed === counts.total) return;
    patience = setTimeout(() => end("no end after its tests failed"), FAILED_PATIENCE_MS);
  });
  const onStop = (): void => end("interrupted");
  stop.addEventListener("abort", onStop);
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  stop.removeEventListener("abort", onStop);
  clearTimeout(watchdog);
  clearTimeout(patience);
  await Promise.race([once(child, "close"), delay(LAST_WORDS_MS)]);
  return { output: output(), failure: cut ?? signal ?? (code ? `exit status ${code}` : undefined) };
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

/** Puts what the file counted together with how it ended. */
function judge(
  output: string,
  failure: string | undefined,
): Pick<FileResult, "passed" | "failed" | "skipped" | "complaint"> {
  const { total, passed, skipped } = countsOf(output) ?? { total: 0, passed: 0, skipped: 0 };
  // The test library ends with 1 to say that tests failed, which the counts say already.
  const explained = failure === "exit status 1" && passed < total;
  const empty = total + skipped === 0 ? "has no tests" : undefined;
  const complaint = explained ? undefined : (failure ?? empty);
  const failed = total - passed + (complaint === undefined ? 0 : 1);
  return { passed, failed, skipped, complaint };
}

/** The seconds that a file asks for; undefined where it asks for none. */
export function timeoutOf({ source }: TestFile): number | undefined {
  const asked = TIMEOUT_LINE.exec(readFileSync(source, "utf8").slice(0, HEAD_CHARACTERS));
  return asked === null ? undefined : Number(asked[1]);
}

function collect(...streams: readonly Readable[]): () => string {
  const parts: string[] = [];
  for (const stream of streams) {
    stream.setEncoding("utf8").on("data", (text: string) => void parts.push(text));
  }
  return () => parts.join("");
}
