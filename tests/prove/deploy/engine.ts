import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../support/processes.ts";

/** A Docker engine in a clean root of its own, and the network namespace that it shares with us. */
export interface Engine {
  /** Runs a script in the root. @throws Error with what it wrote when its status is not 0 @returns its output */
  run(script: string, input?: Buffer | string): Promise<string>;
  /** Makes an image of a root. */
  importRoot(folder: string, image: string): Promise<void>;
}

/** Packages of the engine's root. */
export const ENGINE_PACKAGES = [
  "docker.io",
  "docker-cli",
  "docker-buildx",
  "docker-compose",
  "iptables",
  "openssl",
  "curl",
];

/** Below this the engine's containers are counted; what is left of it is removed at the end. */
export const CGROUP = "starboard-prove-deploy";
const CONTAINERS = 12;
/** Of what a script wrote before it failed. */
const ERROR_CHARACTERS = 4_000;
/** The root becomes the root of a mount namespace: below a mere `chroot`, `docker exec` misses it. */
const ENTER = `cd "$0"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount --rbind /sys/fs/cgroup sys/fs/cgroup
mount --rbind /dev dev
mount -t tmpfs tmpfs run
mkdir run/lock
pivot_root . mnt
umount -l /mnt
exec dockerd --cgroup-parent ${CGROUP}`;

/** Starts the engine of a root; it ends with the process namespace that this process is first in. */
export async function startEngine(root: string, log: number): Promise<Engine> {
  execFileSync("mount", ["--bind", root, root]);
  shareOfCpu();
  const { pid } = spawn("unshare", ["--mount", "sh", "-euc", ENTER, root], {
    stdio: ["ignore", log, log],
  });
  const inside = ["-t", String(pid), "--mount", "--"];
  const run: Engine["run"] = (script, input = "") =>
    new Promise((resolve, reject) => {
      const shell = spawn("nsenter", [...inside, "sh", "-euc", script], {
        env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root" },
        stdio: ["pipe", "pipe", "pipe"],
      });
      let [said, all] = ["", ""];
      shell.stdout.on("data", (chunk) => {
        said += chunk;
        all += chunk;
      });
      shell.stderr.on("data", (chunk) => {
        all += chunk;
      });
      shell.stdin.on("error", () => undefined).end(input);
      shell.once("close", (status) =>
        status === 0
          ? resolve(said)
          : reject(new Error(`${script}\n${all.slice(-ERROR_CHARACTERS)}\nstatus ${status}`)),
      );
    });
  await until("the engine answers", () => run("docker info").then(Boolean, () => false), 60_000);
  return {
    run,
    async importRoot(folder, image) {
      execFileSync("sh", [
        "-euc",
        `tar -C '${folder}' -c . | nsenter ${inside.join(" ")} docker import - '${image}' > /dev/null`,
      ]);
    },
  };
}

/** Where groups and processes share one level, all containers together would weigh as one process. */
function shareOfCpu(): void {
  const group = join("/sys/fs/cgroup/cpu", CGROUP);
  if (!existsSync("/sys/fs/cgroup/cpu/cpu.shares")) return;
  mkdirSync(group, { recursive: true });
  writeFileSync(join(group, "cpu.shares"), String(CONTAINERS * 1_024));
}
