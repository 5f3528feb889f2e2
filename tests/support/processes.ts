import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { nodeArguments } from "./script.ts";

/** A `starboard` process of its own, that can be killed and started again. */
export interface Child {
  readonly pid: number;
  /** Resolves when it is gone, however it went. */
  readonly exited: Promise<void>;
  /** What it wrote to standard error so far. */
  log(): string;
  /** What it wrote to standard output so far. */
  said(): string;
  /** `kill -9`, and waits until it is gone. */
  kill(): Promise<void>;
  /** SIGTERM, and its exit status. */
  stop(): Promise<number | null>;
}

const ENTRY = new URL("../../src/processes/starboard.ts", import.meta.url);

/**
 * Starts a process with these settings and none of ours; it ends with this process at the latest.
 *
 * @param command its name, or all arguments
 */
export function startProcess(
  command: "serve" | "work" | "dev" | readonly string[],
  settings: Readonly<Record<string, string>>,
  cwd?: string,
): Child {
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(process.execPath, [...nodeArguments(ENTRY), ...[command].flat()], {
    env: { PATH, HOME, ...settings },
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  child.stderr.on("data", (chunk) => {
    text += chunk;
  });
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += chunk;
  });
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  child.once("exit", () => process.off("exit", end));
  return {
    pid: child.pid ?? 0,
    exited: once(child, "exit").then(() => undefined),
    log: () => text,
    said: () => said,
    kill: () => finish(child, "SIGKILL").then(() => undefined),
    stop: () => finish(child, "SIGTERM"),
  };
}

async function finish(child: ChildProcess, signal: "SIGKILL" | "SIGTERM"): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
  return child.exitCode;
}

/** The process ids of a process' children, as they are now. */
export function childrenOf(parent: number): readonly number[] {
  return execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, ppid]) => ppid === parent)
    .map(([pid = 0]) => pid);
}

/** Waits until something is so, looking every 50 ms. */
export async function until(
  what: string,
  isSo: () => Promise<boolean> | boolean,
  withinMs = 30_000,
): Promise<void> {
  const startedAt = performance.now();
  while (!(await isSo())) {
    if (performance.now() - startedAt > withinMs)
      throw new Error(`${what}: not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
