import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** A small disk for the database, which can be filled; null where this user may not mount one. */
export interface Disk {
  readonly folder: string;
  /** Takes all that is left of it. */
  fill(): void;
  empty(): void;
  close(): void;
}

const BYTES = 4 * 1024 ** 3;

/** Mounts the disk that a file of this folder holds; makes it at the first time. */
export function mountDisk(folder: string): Disk | null {
  const image = join(folder, "disk.image");
  const place = join(folder, "disk");
  const ballast = join(place, "ballast");
  const run = (program: string, ...args: readonly string[]): void =>
    void execFileSync(program, args, { stdio: "ignore" });
  mkdirSync(place, { recursive: true });
  try {
    if (!existsSync(image)) {
      writeFileSync(image, "");
      truncateSync(image, BYTES);
      run("mkfs.ext4", "-q", "-m", "0", image);
    }
    // One that a run left behind is mounted already.
    try {
      run("mountpoint", "-q", place);
    } catch {
      run("mount", "-o", "loop", image, place);
    }
  } catch {
    rmSync(image, { force: true });
    return null;
  }
  chmodSync(place, 0o711);
  const empty = (): void => rmSync(ballast, { force: true });
  empty();
  return {
    folder: place,
    fill() {
      const { bavail, bsize } = statfsSync(place);
      let offset = 0;
      // The space of the disk's own tables cannot be taken in one piece.
      for (let piece = bavail * bsize; piece >= bsize; piece = Math.floor(piece / 2)) {
        try {
          run("fallocate", "-o", String(offset), "-l", String(piece), ballast);
          offset += piece;
        } catch {
          // Half of it, then.
        }
      }
    },
    empty,
    close: () => run("umount", place),
  };
}
