import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * What distinguishes a process from a later one that was given the same number: its
 * start, in ticks since a named boot of the machine. Zombies count as gone,
 * because nothing in them runs any more and a container may never reap them.
 *
 * @returns undefined when no such process runs
 */
export function processIdentity(pid: number): string | undefined {
  return process.platform === "linux" ? fromProc(pid) : fromPs(pid);
}

/** Whether the process of that number is still the very one that was recorded. */
export function isRunning({ pid, identity }: ProcessReference): boolean {
  return processIdentity(pid) === identity;
}

export interface ProcessReference {
  readonly pid: number;
  readonly identity: string;
}

/** @throws Error when the process has already ended */
export function referTo(pid: number): ProcessReference {
  const identity = processIdentity(pid);
  if (identity === undefined) throw new Error(`process ${pid} ended at once`);
  return { pid, identity };
}

function fromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in brackets and may hold anything.
    const [state = "Z", ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return undefined;
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const startedTicks = fields[18];
    return `${boot}/${startedTicks}`;
  } catch {
    return undefined;
  }
}

function fromPs(pid: number): string | undefined {
  const ps = spawnSync("/bin/ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
    encoding: "utf8",
    env: { LC_ALL: "C" },
  });
  const [state = "Z", ...started] = (ps.stdout ?? "").trim().split(/\s+/);
  return ps.status !== 0 || state.startsWith("Z") ? undefined : started.join(" ");
}
