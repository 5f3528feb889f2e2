import { execFileSync, spawn } from "node:child_process";
import { rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/folder.ts";
import { nodeArguments } from "../support/script.ts";

/** A disk of a few hundred megabytes in memory, which can be filled to its last byte. */
export interface SmallDisk {
  readonly folder: string;
  fill(): void;
  empty(): void;
  close(): void;
}

const BYTES = 512 * 1024 ** 2;
const INSIDE = "STARBOARD_OWN_MOUNTS";

/**
 * Runs a script once more where its mounts are its own, and waits for its end: whatever it mounts
 * goes when it does.
 *
 * @returns false where this is that place; true when all is done; null where this user may not
 */
export async function inOwnMounts(script: string): Promise<boolean | null> {
  if (process.env[INSIDE] !== undefined) return false;
  try {
    execFileSync("unshare", ["--mount", "true"], { stdio: "ignore" });
  } catch {
    return null;
  }
  const args = ["--mount", process.execPath, ...nodeArguments(script), ...process.argv.slice(2)];
  const child = spawn("unshare", args, {
    stdio: "inherit",
    env: { ...process.env, [INSIDE]: "1" },
  });
  process.exitCode = await new Promise<number>((resolve) =>
    child.once("exit", (status) => resolve(status ?? 1)),
  );
  return true;
}

/** Mounts one; only within mounts of our own. */
export function mountSmallDisk(): SmallDisk {
  const folder = temporaryFolder("small-disk");
  const options = `size=${BYTES},mode=0711`;
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "starboard", folder], { stdio: "ignore" });
  const ballast = join(folder, "ballast");
  return {
    folder,
    fill() {
      const { bavail, bsize } = statfsSync(folder);
      execFileSync("fallocate", ["-l", String(bavail * bsize), ballast], { stdio: "ignore" });
    },
    empty: () => rmSync(ballast, { force: true }),
    close() {
      execFileSync("umount", [folder]);
      rmSync(folder, { recursive: true });
    },
  };
}
