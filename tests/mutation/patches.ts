import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { environment } from "../../src/config.ts";

const FOLDER = join(import.meta.dirname, "../planted");

/** A bug kept as a patch: a head of a few lines, then a unified diff against the tree. */
export interface PlantedBug {
  /** The file's name without its ending; it starts with the kind. */
  readonly name: string;
  /** Of the patch, absolute. */
  readonly path: string;
  /** What the service does wrong, in one sentence. */
  readonly bug: string;
  readonly kind: string;
  /** The promise that it breaks, `P1` to `P18`. */
  readonly promise: string;
  /** Test files, by their path in the tree; each one is expected to fail. */
  readonly tests: readonly string[];
}

/**
 * All planted bugs, by name.
 *
 * @throws Error naming the patch whose head lacks a line
 */
export function readPlantedBugs(): readonly PlantedBug[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith(".patch"))
    .sort()
    .map(readBug);
}

function readBug(file: string): PlantedBug {
  const path = join(FOLDER, file);
  const [head = ""] = readFileSync(path, "utf8").split(/^diff /m, 1);
  const line = (name: string): string => {
    const text = new RegExp(`^${name}: (.+)$`, "m").exec(head)?.[1];
    if (text === undefined) throw new Error(`${file} has no line "${name}: …" in its head`);
    return text;
  };
  return {
    name: file.replace(/\.patch$/, ""),
    path,
    bug: line("Bug"),
    kind: line("Kind"),
    promise: line("Promise"),
    tests: line("Caught by").split(", "),
  };
}

/**
 * Plants a bug in a tree, or only looks whether it can be.
 *
 * @throws Error naming the patch that no longer applies
 */
export function plant({ name, path }: PlantedBug, tree: string, mode: "apply" | "check"): void {
  const { status, stderr } = spawnSync("git", ["apply", `--${mode}`, "--recount", path], {
    cwd: tree,
    encoding: "utf8",
    // A repository around the tree would have git take the paths for its own.
    env: { PATH: environment().PATH, GIT_CEILING_DIRECTORIES: dirname(tree) },
  });
  if (status !== 0) throw new Error(`${name} no longer applies:\n${stderr}`);
}
