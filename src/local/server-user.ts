import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import type { UserIds } from "./child-process.ts";

const ELSEWHERE = "/var/lib/starboard";

/**
 * Postgres refuses to run as root. Started by root it runs as the owner of its
 * data, else as `postgres` where that user exists, else as `nobody`;
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
function canEnter(folder: string, user: UserIds | undefined): boolean {
  const script = ["-c", 'cd "$1"', "sh", folder];
  return spawnSync("/bin/sh", script, { cwd: "/", stdio: "ignore", ...user }).status === 0;
}

/**
 * The folder itself when the user can enter it; else, for a project that lies
 * in a closed folder such as root's home, one of its own below `/var/lib`, to
 * which the link `elsewhere` in the folder points from then on.
 *
 * @throws Error when the folder was open once, holds data and is closed now
 */
export function enterableFolder(folder: string, user: UserIds | undefined): string {
  const link = join(folder, "elsewhere");
  if (existsSync(link)) return realpathSync(link);
  if (user === undefined || canEnter(folder, user)) return folder;
  if (existsSync(join(folder, "data"))) {
    throw new Error(`user ${user.uid}, who owns ${folder}/data, cannot enter ${folder} any more`);
  }
  const elsewhere = join(ELSEWHERE, randomUUID());
  mkdirSync(elsewhere, { recursive: true });
  for (const path of [ELSEWHERE, elsewhere]) chmodSync(path, 0o755);
  rmSync(link, { force: true });
  symlinkSync(elsewhere, link);
  return elsewhere;
}

/** Closes a folder to other users; a server that runs as another user may pass through. */
export function openForServer(folder: string): void {
  chmodSync(folder, process.getuid?.() === 0 ? 0o711 : 0o700);
}

function idsOf(name: string): UserIds | undefined {
  const [uid, gid] = ["-u", "-g"].map((flag) => {
    const id = spawnSync("id", [flag, name], { encoding: "utf8" });
    return id.status === 0 ? Number.parseInt(id.stdout, 10) : undefined;
  });
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}
