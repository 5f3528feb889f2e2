import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { isRunning, type ProcessReference, processIdentity } from "./process-identity.ts";

/** A program, ready to be started. */
export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  /** Where it keeps its data; also its working directory. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs as this user; absent: as ours. */
  readonly user?: UserIds | undefined;
}

export interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

/** A server that runs as a child of this process and ends with it. */
export interface Child extends ProcessReference {
  /** Settles when it has ended, with what it ended by. */
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

/** How long a server gets to end by one signal before it is sent the next. */
const STOP_PATIENCE_MS = 15_000;
const POLL_MS = 10;

/**
 * Waits for the end of its own standard input, which comes when we end, however
 * we end (`kill -9` included), and then stops the server. A shell takes 1 MB.
 */
const GUARD = 'read -r _; kill -s "$1" "$2"';

/**
 * Starts a server in a process group of its own, so that Ctrl-C in a terminal
 * reaches us alone and the server outlives our drain. A guard ends it when we
 * are killed. Neither keeps our event loop alive.
 *
 * @param stopSignals tried one after the other until it has ended; the first is the kind one
 */
export function startChild(
  launch: Launch,
  logFile: string,
  stopSignals: readonly [NodeJS.Signals, ...NodeJS.Signals[]],
): Child {
  const server = spawnDetached(launch, logFile);
  const exited = new Promise<string>((resolve) => {
    server.once("error", (error) => resolve(error.message));
    server.once("exit", (code, signal) => resolve(signal ?? `exit status ${code}`));
  });
  if (server.pid === undefined) {
    return { pid: 0, identity: "", exited, stop: () => Promise.resolve() };
  }
  const reference = { pid: server.pid, identity: processIdentity(server.pid) ?? "ended at once" };
  const guard = startGuard(server.pid, stopSignals[0]);
  server.once("exit", () => guard.kill("SIGKILL"));
  server.unref();
  return {
    ...reference,
    exited,
    stop: async () => {
      server.ref();
      await stopProcess(reference, stopSignals);
      await exited;
    },
  };
}

/**
 * Sends one signal after the other until the process has ended.
 *
 * @throws Error when it is not ours to stop, or does not end
 */
export async function stopProcess(
  reference: ProcessReference,
  signals: readonly NodeJS.Signals[],
): Promise<void> {
  for (const signal of signals) {
    if (!isRunning(reference)) return;
    send(reference, signal);
    const deadline = performance.now() + STOP_PATIENCE_MS;
    while (isRunning(reference) && performance.now() < deadline) await delay(POLL_MS);
  }
  if (isRunning(reference)) throw new Error(`process ${reference.pid} does not end`);
}

function send(reference: ProcessReference, signal: NodeJS.Signals): void {
  try {
    process.kill(reference.pid, signal);
  } catch (error) {
    // It may have ended between the look and the signal.
    if (isRunning(reference)) throw error;
  }
}

function spawnDetached(launch: Launch, logFile: string): ChildProcess {
  const log = openSync(logFile, "a", 0o600);
  try {
    return spawn(launch.file, launch.args, {
      cwd: launch.cwd,
      env: launch.env,
      detached: true,
      stdio: ["ignore", log, log],
      ...launch.user,
    });
  } finally {
    closeSync(log);
  }
}

function startGuard(pid: number, signal: NodeJS.Signals): ChildProcess {
  const guard = spawn("/bin/sh", ["-c", GUARD, "guard", signal.slice(3), String(pid)], {
    cwd: "/",
    env: {},
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.unref();
  // Without a guard the next start still finds and stops the orphan.
  guard.once("error", () => undefined);
  guard.stdin?.once("error", () => undefined);
  if (guard.stdin instanceof Socket) guard.stdin.unref();
  return guard;
}
