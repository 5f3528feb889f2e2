import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { processIdentity } from "../../src/local/process-identity.ts";
import { nodeArguments } from "./script.ts";

/** A process of its own that holds a server, as `npm start` does. */
export interface ServerHolder {
  readonly url: string;
  /** Of the server. */
  readonly pid: number;
  /** What Ctrl-C in a terminal does: a signal to the whole process group. */
  interrupt(): Promise<void>;
  /** Lets it close its server and waits for its end. */
  finish(): Promise<number | null>;
  /** `kill -9` of the holder; with its guards, which would end the server. */
  kill(options?: { guards: boolean }): Promise<void>;
}

const FIXTURE = join(import.meta.dirname, "../fixtures/server-holder.ts");

export async function holdServer(
  kind: "postgres" | "redis",
  dataDir: string,
): Promise<ServerHolder> {
  const child = spawn(process.execPath, [...nodeArguments(FIXTURE), kind, dataDir], {
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
  });
  holders.add(child);
  child.once("exit", () => holders.delete(child));
  const lines = createInterface(child.stdout);
  const { url, pid } = JSON.parse(await nextLine(lines)) as { url: string; pid: number };
  const holder = child.pid ?? 0;
  return {
    url,
    pid,
    interrupt: async () => {
      const line = nextLine(lines);
      process.kill(-holder, "SIGINT");
      await line;
    },
    finish: async () => {
      child.stdin.write("finish\n");
      return ended(child);
    },
    kill: async ({ guards } = { guards: false }) => {
      // Stopped first, or it would take the end for a crash and start it again.
      child.kill("SIGSTOP");
      for (const guard of guards ? guardsOf(holder) : []) process.kill(guard, "SIGKILL");
      child.kill("SIGKILL");
      await ended(child);
    },
  };
}

const holders = new Set<ChildProcess>();

/** After every test, or a failed one would leave its holder to the next. */
export async function killHolders(): Promise<void> {
  for (const child of holders) {
    child.kill("SIGKILL");
    await ended(child);
  }
}

/** Waits until no process of that number runs. */
export async function goneWithin(pid: number, patienceMs: number): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  while (processIdentity(pid) !== undefined) {
    if (performance.now() > deadline) return false;
    await delay(10);
  }
  return true;
}

async function nextLine(lines: Interface): Promise<string> {
  const end = new AbortController();
  lines.once("close", () => end.abort(new Error("the holder ended")));
  const [line] = (await once(lines, "line", { signal: end.signal })) as [string];
  return line;
}

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode;
}

function guardsOf(holder: number): readonly number[] {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" });
  return stdout
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, parent, ...args]) => Number(parent) === holder && args.includes("guard"))
    .map(([pid]) => Number(pid));
}
