import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { temporaryFolder } from "./folder.ts";
import { commandOf, findLeftovers } from "./leftovers.ts";

/** What became of one test file. */
export interface FileResult {
  readonly file: string;
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
/** Whoever left the file's process group may hold its pipes open. */
const LAST_WORDS_MS = 1_000;

/**
 * Runs one test file as a process of its own, in a process group of its own, so
 * that a watchdog can end it with everything it started. Whatever of it outlives
 * it is ended and counts as a failure.
 *
 * @param stop ends the file at once when aborted
 */
export async function runTestFile(
  file: string,
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
  return { file, seconds, output: run.output, ...judge(run.output, failure) };
}

interface Run {
  readonly output: string;
  /** Undefined when it ended well. */
  readonly failure: string | undefined;
}

async function runProcess(file: string, env: Environment, stop: AbortSignal): Promise<Run> {
  const child = spawn(process.execPath, ["--import", "tsx", file], {
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = collect(child.stdout, child.stderr);
  const seconds = timeoutOf(file);
  let cut: string | undefined;
  const end = (why: string): void => {
    cut ??= why;
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  };
  const watchdog = setTimeout(() => end(`no end after ${seconds} s`), seconds * 1_000);
  const onStop = (): void => end("interrupted");
  stop.addEventListener("abort", onStop);
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  stop.removeEventListener("abort", onStop);
  clearTimeout(watchdog);
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

/** Puts what the file counted together with how it ended. */
function judge(
  output: string,
  failure: string | undefined,
): Pick<FileResult, "passed" | "failed" | "skipped" | "complaint"> {
  const counts = COUNTS.exec(stripVTControlCharacters(output));
  const [total = 0, passed = 0, skipped = 0] = counts?.slice(1).map(Number) ?? [];
  // The test library ends with 1 to say that tests failed, which the counts say already.
  const explained = failure === "exit status 1" && passed < total;
  const empty = total + skipped === 0 ? "has no tests" : undefined;
  const complaint = explained ? undefined : (failure ?? empty);
  const failed = total - passed + (complaint === undefined ? 0 : 1);
  return { passed, failed, skipped, complaint };
}

function timeoutOf(file: string): number {
  const head = readFileSync(file, "utf8").slice(0, HEAD_CHARACTERS);
  return Number(TIMEOUT_LINE.exec(head)?.[1] ?? TIMEOUT_SECONDS);
}

function collect(...streams: readonly Readable[]): () => string {
  const parts: string[] = [];
  for (const stream of streams) {
    stream.setEncoding("utf8").on("data", (text: string) => void parts.push(text));
  }
  return () => parts.join("");
}
