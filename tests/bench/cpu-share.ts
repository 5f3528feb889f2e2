import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Processes that get no more than a part of a core, each by itself. */
export interface CpuShare {
  /** Undoes it; to be called when the processes have ended. */
  release(): void;
}

const ROOT = "/sys/fs/cgroup";
/** How often the kernel hands out a new part, microseconds. */
const PERIOD_US = 10_000;

/**
 * Holds processes to a part of a core by cgroups, of version 2 or 1.
 *
 * @param cores for example 0.25
 * @returns undefined where this login may not make cgroups
 */
export function holdTo(cores: number, pids: readonly number[]): CpuShare | undefined {
  const quotaUs = Math.round(cores * PERIOD_US);
  const isSecond = existsSync(join(ROOT, "cgroup.controllers"));
  const folders: string[] = [];
  const release = (): void => {
    for (const folder of folders.splice(0)) rmdirSync(folder);
  };
  try {
    if (isSecond) writeFileSync(join(ROOT, "cgroup.subtree_control"), "+cpu");
    for (const pid of pids) {
      const folder = join(ROOT, isSecond ? "" : "cpu", `starboard-bench-${pid}`);
      mkdirSync(folder);
      folders.push(folder);
      if (isSecond) writeFileSync(join(folder, "cpu.max"), `${quotaUs} ${PERIOD_US}`);
      else {
        writeFileSync(join(folder, "cpu.cfs_period_us"), String(PERIOD_US));
        writeFileSync(join(folder, "cpu.cfs_quota_us"), String(quotaUs));
      }
      writeFileSync(join(folder, "cgroup.procs"), String(pid));
    }
    return { release };
  } catch {
    // Folders with a process in them stay until it has ended; empty ones can go.
    for (const folder of folders) {
      try {
        rmdirSync(folder);
      } catch {}
    }
    return undefined;
  }
}
