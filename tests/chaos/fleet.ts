import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../src/local/free-port.ts";
import { until } from "../support/processes.ts";
import { mistakesIn } from "./mistakes.ts";

/** A `serve` or `work` process under a supervisor: it is started again whenever it ends. */
export interface Member {
  readonly name: string;
  readonly role: "serve" | "work";
  /** Of a web process. */
  readonly url: string;
  /** Whether it has answered since its last start; workers are taken to be up once they run. */
  isUp(): boolean;
  /** When it was last killed, stopped, frozen or thawed, by `performance.now()`. */
  disturbedAt(): number;
  /** Of its build. */
  version(): string;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** SIGTERM, and the same or another build in its place. */
  restart(build: Build): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** Shared with the module loaded into it. */
  readonly preloadFile: string;
}

/** A compiled tree. */
export interface Build {
  readonly folder: string;
  readonly version: string;
}

export interface Fleet {
  readonly members: readonly Member[];
  readonly builds: readonly [Build, Build];
  /** Kills all and leaves them down. */
  down(): Promise<void>;
  /** Starts all that are down. */
  up(): void;
  /** How often a process ended by itself, with its last words. */
  readonly ownEnds: readonly string[];
  /** What the processes of this run logged that only a mistake in the code throws. */
  mistakes(): readonly string[];
  close(): Promise<void>;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Twice as long each time that it does not come up. */
const AGAIN_AFTER_MS = 200;
const AGAIN_AFTER_MS_MAX = 3_000;
const LAST_WORDS = 400;
const UP_WITHIN_MS = 180_000;

/**
 * Starts two web processes and two workers, of the tree's own build (`npm run build`).
 *
 * @param given.preload a module loaded into each; PRELOAD_FILE names a file that is the process' own
 */
export async function startFleet(given: {
  readonly folder: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly preload: URL;
}): Promise<Fleet> {
  const { folder, settings } = given;
  const builds = makeBuilds(folder);
  const ownEnds: string[] = [];
  const supervised: Supervised[] = [];
  for (const [index, role] of (["serve", "serve", "work", "work"] as const).entries()) {
    const member = supervise({
      name: `${role}-${(index % 2) + 1}`,
      role,
      folder,
      preload: given.preload,
      settings: { ...settings, ...(role === "serve" && { PORT: String(await freePort()) }) },
      build: builds[0],
      onOwnEnd: (words) => ownEnds.push(words),
    });
    supervised.push(member);
    // One after the other: four at once take a busy machine longer than each waits for Postgres.
    await until(`${member.name} is up`, member.isUp, UP_WITHIN_MS);
  }
  const all = (work: (member: Supervised) => Promise<void> | void) =>
    Promise.all(supervised.map(work));
  return {
    members: supervised,
    builds,
    ownEnds,
    mistakes: () => supervised.flatMap((member) => member.mistakes()),
    down: async () => void (await all((member) => member.down())),
    up: () => void all((member) => member.up()),
    close: async () => void (await all((member) => member.end())),
  };
}

/** The tree as it was built, and a copy of it that calls itself the next version. */
function makeBuilds(folder: string): readonly [Build, Build] {
  const text = readFileSync(join(ROOT, "package.json"), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  const next = join(folder, "next");
  rmSync(next, { recursive: true, force: true });
  mkdirSync(next, { recursive: true });
  // What benchmarks compile and install lies there too, and is large.
  const isOfService = (path: string): boolean => path !== join(ROOT, "dist/bench");
  cpSync(join(ROOT, "dist"), join(next, "dist"), { recursive: true, filter: isOfService });
  for (const part of ["migrations", "docs/operating"]) {
    cpSync(join(ROOT, part), join(next, part), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(next, "node_modules"));
  const nextVersion = `${version}-next`;
  writeFileSync(
    join(next, "package.json"),
    text.replace(`"version": "${version}"`, `"version": "${nextVersion}"`),
  );
  return [
    { folder: ROOT, version },
    { folder: next, version: nextVersion },
  ];
}

interface Supervised extends Member {
  mistakes(): readonly string[];
  down(): Promise<void>;
  up(): void;
  end(): Promise<void>;
}

function supervise(given: {
  readonly name: string;
  readonly role: "serve" | "work";
  readonly folder: string;
  readonly preload: URL;
  readonly settings: Readonly<Record<string, string>>;
  readonly build: Build;
  readonly onOwnEnd: (words: string) => void;
}): Supervised {
  const { name, role, settings } = given;
  const url = `http://127.0.0.1:${settings.PORT}`;
  const preloadFile = join(given.folder, `${name}.preload`);
  const log = join(given.folder, `${name}.log`);
  // A folder keeps the logs of its runs.
  const loggedBefore = existsSync(log) ? statSync(log).size : 0;
  let { build } = given;
  let child: ChildProcess;
  let disturbedAt = 0;
  let isUp = false;
  let isWanted = true;
  let againAfterMs = AGAIN_AFTER_MS;
  /** How it is being ended, by us. */
  let ending: NodeJS.Signals | undefined;

  const start = (): void => {
    const { PATH = "", HOME = "" } = process.env;
    const words = openSync(log, "a");
    const script = join(build.folder, "dist/src/processes/starboard.js");
    child = spawn(process.execPath, ["--max-semi-space-size=64", script, role], {
      cwd: given.folder,
      env: {
        ...{ PATH, HOME },
        ...settings,
        NODE_OPTIONS: `--import=${given.preload.href}`,
        PRELOAD_FILE: preloadFile,
      },
      stdio: ["ignore", "ignore", words],
    });
    closeSync(words);
    const mine = child;
    isUp = role === "work";
    if (role === "serve") void lookUntilUp(mine);
    child.once("exit", (code, signal) => {
      isUp = false;
      disturbedAt = performance.now();
      if (ending === undefined) {
        given.onOwnEnd(`${name}: ${signal ?? code} ${lastWords(log)}`);
        againAfterMs = Math.min(2 * againAfterMs, AGAIN_AFTER_MS_MAX);
      } else {
        againAfterMs = AGAIN_AFTER_MS;
      }
      ending = undefined;
      if (isWanted) setTimeout(() => isWanted && hasEnded(child) && start(), againAfterMs);
    });
  };
  const lookUntilUp = async (mine: ChildProcess): Promise<void> => {
    while (!hasEnded(mine)) {
      const reply = await fetch(`${url}/healthz`).catch(() => undefined);
      await reply?.text();
      if (reply?.ok && !hasEnded(mine)) {
        isUp = true;
        return;
      }
      await pause(50);
    }
  };
  const finish = async (signal: NodeJS.Signals): Promise<void> => {
    if (hasEnded(child)) return;
    const exited = once(child, "exit");
    ending = signal;
    disturbedAt = performance.now();
    isUp = false;
    child.kill(signal);
    // A frozen process reacts to no other signal.
    child.kill("SIGCONT");
    await exited;
  };
  const orphan = (): void => void child.kill("SIGKILL");
  process.once("exit", orphan);
  start();
  return {
    name,
    role,
    url,
    isUp: () => isUp,
    disturbedAt: () => disturbedAt,
    version: () => build.version,
    kill: () => finish("SIGKILL"),
    async restart(other) {
      build = other;
      await finish("SIGTERM");
    },
    freeze() {
      disturbedAt = performance.now();
      isUp = false;
      child.kill("SIGSTOP");
    },
    thaw() {
      disturbedAt = performance.now();
      child.kill("SIGCONT");
      isUp = role === "work";
      if (role === "serve") void lookUntilUp(child);
    },
    preloadFile,
    mistakes: () => mistakesIn(readFileSync(log).subarray(loggedBefore).toString()),
    async down() {
      isWanted = false;
      await finish("SIGKILL");
    },
    up() {
      isWanted = true;
      if (hasEnded(child)) start();
    },
    async end() {
      isWanted = false;
      const cut = setTimeout(() => child.kill("SIGKILL"), 15_000);
      await finish("SIGTERM");
      clearTimeout(cut);
      process.off("exit", orphan);
    },
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function lastWords(log: string): string {
  return readFileSync(log, "utf8").slice(-LAST_WORDS).trim().split("\n").at(-1) ?? "";
}
