import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Service } from "../service.ts";
import { type Child, type Launch, startChild, stopProcess } from "./child-process.ts";
import { lockFolder } from "./folder-lock.ts";
import { freePort, readPort } from "./free-port.ts";
import type { ProcessReference } from "./process-identity.ts";

/** What differs between one kind of server and another. */
export interface ServerKind {
  readonly name: string;
  /** Taken at the first start where it is free; any when absent. */
  readonly port?: number | undefined;
  /** Sent one after the other until it has ended; the first loses nothing. */
  readonly stopSignals: readonly [NodeJS.Signals, ...NodeJS.Signals[]];
  /** Makes the data ready, once, when the folder is ours alone. */
  prepare?(): Promise<void>;
  /** How to start it on a port. Called for every start. */
  launch(port: number): Launch;
  /** Whether it answers; asked again and again while it starts. */
  isReady(port: number, pid: number): Promise<boolean>;
  /** Repairs what a server that was never stopped left in its data. */
  clearAfter?(dead: ProcessReference): void;
}

/** A local server that runs until closed, on a port that stays the same. */
export interface LocalServer extends Service {
  readonly port: number;
  /** Process id of the server as it runs now. */
  pid(): number;
}

const LOG_BYTES_MAX = 10 * 1024 * 1024;
const START_DEADLINE_MS = 60_000;
const POLL_MS = 10;
/** Another process may take the port first, or a dead server's remains still hold the data. */
const START_TRIES_MAX = 5;
const RESTART_DELAY_MIN_MS = 100;
const RESTART_DELAY_MAX_MS = 5_000;

/**
 * Runs one server on one folder. What an earlier process left running there
 * is stopped first, so there are never two on the same data; a server that
 * crashes is started again on the same port.
 *
 * @param folder ours alone; holds the lock, the log and what the kind keeps. Its last port is
 *   taken again where that is free
 * @throws Error when the folder is in use or the server does not come up; the
 *   message holds the end of the server's log
 */
export async function runServer(kind: ServerKind, folder: string): Promise<LocalServer> {
  if (process.platform === "win32") {
    throw new Error(`${kind.name} of our own needs Linux or macOS; set DATABASE_URL and REDIS_URL`);
  }
  mkdirSync(folder, { recursive: true });
  const lock = lockFolder(folder);
  const { predecessor } = lock;
  // Should this fail, the lock stays: it is what knows of the predecessor.
  if (predecessor !== undefined) await stopProcess(predecessor, kind.stopSignals);
  try {
    if (predecessor !== undefined) kind.clearAfter?.(predecessor);
    await kind.prepare?.();
    const starter = new Starter(kind, folder, lock.note);
    const port = await starter.startOnFreePort();
    const close = async (): Promise<void> => {
      await starter.stop();
      lock.release();
    };
    let closing: Promise<void> | undefined;
    return { port, pid: () => starter.pid, close: () => (closing ??= close()) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Keeps one server up. */
class Starter {
  readonly #kind: ServerKind;
  readonly #folder: string;
  readonly #note: (server: ProcessReference) => void;
  #child: Child | undefined;
  #stopping = false;
  #restarting: Promise<void> = Promise.resolve();

  constructor(kind: ServerKind, folder: string, note: (server: ProcessReference) => void) {
    this.#kind = kind;
    this.#folder = folder;
    this.#note = note;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async startOnFreePort(): Promise<number> {
    const portFile = join(this.#folder, "server.port");
    let wanted = readPort(portFile) || (this.#kind.port ?? 0);
    for (let tries = 1; ; tries += 1) {
      const port = await freePort(wanted);
      const failure = await this.#start(port);
      if (failure === undefined) {
        writeFileSync(portFile, String(port));
        return port;
      }
      if (tries === START_TRIES_MAX) throw new Error(failure);
      await delay(RESTART_DELAY_MIN_MS * tries);
      wanted = 0;
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#child?.stop();
    await this.#restarting;
  }

  /** @returns why it did not start, if it did not */
  async #start(port: number): Promise<string | undefined> {
    const { name, launch, stopSignals, isReady } = this.#kind;
    const logFile = join(this.#folder, "server.log");
    shorten(logFile);
    const child = startChild(launch(port), logFile, stopSignals);
    this.#child = child;
    let ended: string | undefined;
    void child.exited.then((how) => {
      ended = how;
    });
    try {
      if (child.pid !== 0) this.#note({ pid: child.pid, identity: child.identity });
    } catch {
      // The disk is full: if we are killed its guard alone ends it.
    }
    const deadline = performance.now() + START_DEADLINE_MS;
    while (ended === undefined && !(await isReady(port, child.pid))) {
      if (performance.now() > deadline) {
        await child.stop();
        return `${name} was not ready in time${tail(logFile)}`;
      }
      await delay(POLL_MS);
    }
    if (ended !== undefined) return `${name} did not start (${ended})${tail(logFile)}`;
    void child.exited.then(() => {
      if (!this.#stopping) this.#restarting = this.#restart(port);
    });
    return undefined;
  }

  async #restart(port: number): Promise<void> {
    let wait = RESTART_DELAY_MIN_MS;
    while (!this.#stopping) {
      await delay(wait);
      if (this.#stopping) return;
      const failure = await this.#start(port).catch((error: unknown) => error);
      if (failure === undefined) return;
      wait = Math.min(wait * 2, RESTART_DELAY_MAX_MS);
    }
  }
}

function shorten(logFile: string): void {
  const bytes = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes > LOG_BYTES_MAX) rmSync(logFile);
}

function tail(logFile: string): string {
  const lines = readFileSync(logFile, "utf8").trim().split("\n").slice(-8);
  return lines[0] === "" ? "" : `:\n${lines.join("\n")}`;
}
