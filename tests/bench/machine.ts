import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, totalmem } from "node:os";

/** What the figures were measured on; absolute numbers mean nothing without it. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  readonly node: string;
  readonly commit: string;
  readonly loadBefore: readonly number[];
}

export function describeMachine(): Machine {
  const git = spawnSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" });
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    commit: git.status === 0 ? git.stdout.trim() : "unknown",
    loadBefore: loadavg(),
  };
}

/** CPU of a process and all below it, microseconds; 0 where there is no `/proc`. */
export function cpuOfTree(root: number): number {
  const parents = new Map<number, { parent: number; ticks: number }>();
  for (const name of listProcesses()) {
    const stat = readStat(name);
    if (stat !== undefined) parents.set(Number(name), stat);
  }
  let ticks = 0;
  for (const [pid, { ticks: own }] of parents) {
    if (descendsFrom(pid, root, parents)) ticks += own;
  }
  return ticks * MICROSECONDS_PER_TICK;
}

/** The kernel counts in hundredths of a second, whatever its own timer does. */
const MICROSECONDS_PER_TICK = 10_000;
const DEPTH_MAX = 32;

function descendsFrom(
  pid: number,
  root: number,
  parents: ReadonlyMap<number, { parent: number }>,
): boolean {
  let at = pid;
  for (let depth = 0; depth < DEPTH_MAX && at > 0; depth += 1) {
    if (at === root) return true;
    at = parents.get(at)?.parent ?? 0;
  }
  return false;
}

function listProcesses(): readonly string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function readStat(pid: string): { parent: number; ticks: number } | undefined {
  try {
    // The name, in parentheses, may hold anything.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    // Its own time, and that of its ended children.
    const times = [11, 12, 13, 14].map((index) => Number(fields[index] ?? 0));
    return { parent: Number(fields[1]), ticks: times.reduce((sum, each) => sum + each, 0) };
  } catch {
    return undefined;
  }
}
