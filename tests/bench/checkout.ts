import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Sql } from "../../src/store/postgres.ts";

/** This very tree, whose compiled twin is measured. */
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A source tree of the product that is compiled and can be measured. */
export interface Checkout {
  /** Of the commit; what its figures are named after. */
  readonly name: string;
  /** Where the compiler put a source file, given as this tree's. */
  compiled(source: URL): string;
  /** Its own migrations and its own seed, for a database that its servers understand. */
  readonly migrate: (url: string) => Promise<unknown>;
  readonly seedForStars: (sql: Sql, wallets: number) => Promise<void>;
  /** Node's flags as it starts a web process itself. */
  readonly webFlags: readonly string[];
  close(): void;
}

/** Compiles a tree; complaints go to standard error, for the files are written all the same. */
export function compile(root: string = ROOT): void {
  const project = join(root, "tests/bench/tsconfig.json");
  const compiler = createRequire(join(root, "package.json")).resolve("typescript/package.json");
  const tsc = join(compiler, "../bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", project], {
    encoding: "utf8",
  });
  if (status !== 0) process.stderr.write(`compiled with complaints:\n${stdout}\n`);
}

/** Where the compiler put a source file of a tree, given as this tree's. */
export function compiledIn(root: string, source: URL): string {
  const path = relative(ROOT, fileURLToPath(source)).replace(/\.ts$/, ".js");
  return join(root, "dist/bench", path);
}

export const compiled = (source: URL): string => compiledIn(ROOT, source);

/**
 * Makes an older commit ready to be measured: in a worktree of its own with its own packages, or
 * in the folder that is named where it is one with packages.
 */
export async function checkOut(commitOrFolder: string): Promise<Checkout> {
  const isFolder = existsSync(join(commitOrFolder, "node_modules"));
  const root = isFolder ? resolve(commitOrFolder) : addWorktree(commitOrFolder);
  const close = (): void => {
    if (!isFolder) removeWorktree(root);
  };
  process.once("exit", close);
  compile(root);
  const load = (path: string) =>
    import(pathToFileURL(compiledIn(root, new URL(path, import.meta.url))).href);
  const [{ migrate }, { seedForStars }, { WEB_FLAGS = [] }] = await Promise.all([
    load("../../src/store/migrate.ts"),
    load("./seed.ts"),
    load("./children.ts"),
  ]);
  return {
    name: run(root, "git", ["rev-parse", "--short", "HEAD"]).trim(),
    compiled: (source) => compiledIn(root, source),
    migrate,
    seedForStars,
    webFlags: WEB_FLAGS,
    close,
  };
}

function addWorktree(commit: string): string {
  const root = mkdtempSync(join(tmpdir(), "starboard-bench-checkout-"));
  run(ROOT, "git", ["worktree", "add", "--detach", root, commit]);
  run(root, "npm", ["ci", "--ignore-scripts"]);
  return root;
}

function removeWorktree(root: string): void {
  if (!existsSync(root)) return;
  rmSync(root, { recursive: true, force: true });
  run(ROOT, "git", ["worktree", "prune"]);
}

function run(cwd: string, program: string, words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${words.join(" ")}: ${stderr}`);
  return stdout;
}
