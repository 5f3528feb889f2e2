import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";
import { processIdentity } from "../../src/local/process-identity.ts";

const MEMORY = "/dev/shm";
const MOUNTED = /^\S+ \/dev\/shm tmpfs (\S+)/m;
/**
 * Test databases and their log take up to some 2 GB; everything else must have enough room beside
 * them.
 */
const ROOM_BYTES = 8 * 1024 ** 3;

/**
 * A new folder in memory, for files that come and go by the thousand: a disk can take longer to
 * find a place for each than to write it. What a killed run left behind is removed first.
 *
 * @returns undefined where there is no such place, no room, or no program may run from it
 */
export function memoryFolder(): string | undefined {
  try {
    const [, options = "noexec"] = MOUNTED.exec(readFileSync("/proc/mounts", "utf8")) ?? [];
    if (options.split(",").includes("noexec") || freeBytes() < ROOM_BYTES) return undefined;
    // Only where processes are visible can living ones be distinguished from ended ones.
    const ours = `starboard-${readlinkSync("/proc/self/ns/pid").replace(/\D/g, "")}-`;
    removeLeftBehind(ours);
    const folder = mkdtempSync(join(MEMORY, `${ours}${process.pid}-`));
    // Run by root, Postgres works as another user and has to pass through.
    chmodSync(folder, 0o711);
    return folder;
  } catch {
    return undefined;
  }
}

function freeBytes(): number {
  const { bavail, bsize } = statfsSync(MEMORY);
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.min(bavail * bsize, freemem(), limit);
}

function removeLeftBehind(ours: string): void {
  for (const name of readdirSync(MEMORY).filter((each) => each.startsWith(ours))) {
    const pid = Number.parseInt(name.slice(ours.length), 10);
    if (processIdentity(pid) === undefined) rmSync(join(MEMORY, name), { recursive: true });
  }
}
