import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Checkout, compiled } from "./checkout.ts";
import { cpuOfTree } from "./machine.ts";
import type { Usage } from "./observe.ts";

/** A measured process, compiled and separate; it ends with this one at the latest. */
export interface Child {
  readonly pid: number;
  usage(): Promise<Usage>;
  /** The same after a garbage collection; needs `--expose-gc`. */
  collected(): Promise<Usage>;
  /** Sends a message and waits for the next one that comes back. */
  ask<T>(message: object): Promise<T>;
  /** Waits until it answers HTTP; rejects with its last words when it ends instead. */
  answersAt(url: string): Promise<void>;
  /** SIGTERM, then its end; SIGKILL for one that does not react. */
  stop(): Promise<void>;
}

/** As `bin/starboard` starts a web process; rivals and bare servers get the same. */
export const WEB_FLAGS: readonly string[] = ["--max-semi-space-size=64"];

/** Starting includes connecting to Postgres and Redis on a busy machine. */
const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 20_000;
const ANSWER_WITHIN_MS = 10_000;

/** Characters of what a process wrote that stand in a complaint about it. */
const LAST_WORDS = 2_000;

export interface Launch {
  /** The source file of the entry; its compiled twin is started. */
  readonly entry: URL;
  readonly args?: readonly string[];
  readonly settings?: Readonly<Record<string, string>>;
  readonly nodeFlags?: readonly string[];
  /** It will say when it is ready to take orders. */
  readonly takesOrders?: boolean;
  /** Folder for a CPU profile, written when the process ends. */
  readonly profileInto?: string | undefined;
  /** The tree whose twin is started; this one when absent. */
  readonly checkout?: Pick<Checkout, "compiled"> | undefined;
}

const living = new Set<ChildProcess>();
/** One for what all processes write to standard error. */
const logs = mkdtempSync(join(tmpdir(), "starboard-bench-logs-"));
process.once("exit", () => {
  for (const child of living) child.kill("SIGKILL");
  rmSync(logs, { recursive: true, force: true });
});
let launched = 0;

/** Starts a process; ready to be asked once its modules are loaded. */
export async function launch(given: Launch): Promise<Child> {
  const { entry, args = [], settings = {}, nodeFlags = [], profileInto } = given;
  const { checkout = { compiled } } = given;
  const observer = checkout.compiled(new URL("./observe.ts", import.meta.url));
  if (profileInto !== undefined) mkdirSync(profileInto, { recursive: true });
  const profiling =
    profileInto === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profileInto}`];
  const { PATH = "", HOME = "" } = process.env;
  // A file, because a pipe would have to be read, and reading costs what is measured.
  launched += 1;
  const log = join(logs, String(launched));
  const words = openSync(log, "w");
  const child = spawn(
    process.execPath,
    [...nodeFlags, ...profiling, "--import", observer, checkout.compiled(entry), ...args],
    { env: { PATH, HOME, ...settings }, stdio: ["ignore", "ignore", words, "ipc"] },
  );
  closeSync(words);
  living.add(child);
  const complaint = (): string => readFileSync(log, "utf8").slice(-LAST_WORDS);
  child.once("exit", () => {
    living.delete(child);
    last = complaint();
    rmSync(log, { force: true });
  });
  let last: string | undefined;
  const lastWords = (): string => last ?? complaint();
  const ask = async <T>(message: string | object, withinMs = ANSWER_WITHIN_MS): Promise<T> => {
    child.send(message);
    return nextMessage<T>(child, withinMs, lastWords);
  };
  if (given.takesOrders) await nextMessage(child, READY_WITHIN_MS, lastWords);
  return {
    pid: child.pid ?? 0,
    usage: () => ask<Usage>("usage"),
    collected: () => ask<Usage>("collected"),
    ask: (message) => ask(message, READY_WITHIN_MS * 10),
    answersAt: (url) => untilAnswering(url, () => hasEnded(child), lastWords),
    stop: () => stop(child),
  };
}

/** A program from elsewhere. */
export type Program = Pick<Child, "pid" | "usage" | "stop">;

/** Starts a program; the kernel reports what it has used. */
export function launchProgram(
  program: string,
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
): Program & { readonly complaint: () => string } {
  launched += 1;
  const log = join(logs, String(launched));
  const output = openSync(log, "w");
  const child = spawn(program, words, { env: settings, stdio: ["ignore", output, output] });
  closeSync(output);
  living.add(child);
  child.once("exit", () => living.delete(child));
  const pid = child.pid ?? 0;
  return {
    pid,
    usage: async () => ({ cpuUs: cpuOfTree(pid), rssBytes: 0, heapBytes: 0, counts: {} }),
    stop: () => stop(child),
    complaint: () => readFileSync(log, "utf8").slice(-LAST_WORDS),
  };
}

/** Runs `starboard` with these words, in a process of its own, to its end. */
export async function runCommand(
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<{ ms: number; status: number | null; stdoutBytes: number; complaint: string }> {
  const entry = compiled(new URL("../../src/processes/starboard.ts", import.meta.url));
  const { PATH = "", HOME = "" } = process.env;
  const startedAt = performance.now();
  const child = spawn(process.execPath, [entry, ...words], { env: { PATH, HOME, ...settings } });
  living.add(child);
  let stdoutBytes = 0;
  let complaint = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdoutBytes += chunk.byteLength;
  });
  child.stderr.on("data", (chunk) => {
    complaint = `${complaint}${chunk}`.slice(0, LAST_WORDS);
  });
  const [status] = (await once(child, "close")) as [number | null];
  living.delete(child);
  return { ms: performance.now() - startedAt, status, stdoutBytes, complaint: complaint.trim() };
}

async function untilAnswering(
  url: string,
  hasEnded: () => boolean,
  complaint: () => string,
): Promise<void> {
  const until = performance.now() + READY_WITHIN_MS;
  for (;;) {
    const response = await fetch(`${url}/healthz`).catch(() => undefined);
    await response?.arrayBuffer();
    if (response !== undefined) return;
    if (hasEnded() || performance.now() > until) {
      throw new Error(`${url} does not answer: ${complaint()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function stop(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, "exit");
  const cut = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN_MS);
  child.kill("SIGTERM");
  await exited;
  clearTimeout(cut);
}

async function nextMessage<T>(
  child: ChildProcess,
  withinMs: number,
  lastWords: () => string,
): Promise<T> {
  const end = new AbortController();
  const stop = (): void => end.abort();
  child.once("exit", stop);
  const timer = setTimeout(stop, withinMs);
  try {
    return (await once(child, "message", { signal: end.signal }))[0] as T;
  } catch {
    throw new Error(`a process said nothing within ${withinMs} ms, or ended: ${lastWords()}`);
  } finally {
    clearTimeout(timer);
    child.off("exit", stop);
  }
}

/** The profiles in a folder, newest last. */
export function profilesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".cpuprofile"))
    .map((name) => join(folder, name));
}
