import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, realpathSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UserIds } from "./child-process.ts";

/**
 * Postgres refuses to run as root. Started by root it runs as whoever owns its
 * data already, else as `postgres` where that user exists, else as `nobody`;
 * no user is ever created.
 *
 * @returns undefined when we are no root, so that it runs as ourselves
 */
export function serverUser(dataFolder: string): UserIds | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(dataFolder, { throwIfNoEntry: false });
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const user = idsOf("postgres") ?? idsOf("nobody");
  if (user === undefined) throw new Error("Postgres cannot run as root, and no other user exists");
  return user;
}

/** Whether the user gets into a folder, through all the folders above it. */
export function canEnter(folder: string, user: UserIds | undefined): boolean {
  const script = ["-c", 'cd "$1"', "sh", folder];
  return spawnSync("/bin/sh", script, { cwd: "/", stdio: "ignore", ...user }).status === 0;
}

/**
 * The folder itself when the user can enter it; else, for a project that lies
 * in a closed folder such as root's home, one of its own below `/var/lib`, to
 * which the link `elsewhere` in the folder points from then on.
 */
export function enterableFolder(folder: string, user: UserIds | undefined): string {
  const link = join(folder, "elsewhere");
  if (statSync(link, { throwIfNoEntry: false }) !== undefined) return realpathSync(link);
  if (user === undefined || canEnter(folder, user)) return folder;
  const elsewhere = join("/var/lib/starboard", randomUUID());
  mkdirSync(elsewhere, { recursive: true, mode: 0o755 });
  symlinkSync(elsewhere, link);
  return elsewhere;
}

/** A temporary folder that the user can enter. */
export function enterableTemporaryFolder(user: UserIds): string {
  const found = [tmpdir(), "/tmp", "/var/tmp"].find((folder) => canEnter(folder, user));
  if (found === undefined) throw new Error("no temporary folder is open to the user of Postgres");
  return found;
}

/** Lets everybody pass through a folder of ours without listing it. */
export function openForPassing(folder: string): void {
  chmodSync(folder, 0o711);
}

function idsOf(name: string): UserIds | undefined {
  const [uid, gid] = ["-u", "-g"].map((flag) => {
    const id = spawnSync("id", [flag, name], { encoding: "utf8" });
    return id.status === 0 ? Number.parseInt(id.stdout, 10) : undefined;
  });
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}
