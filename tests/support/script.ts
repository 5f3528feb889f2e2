import { fileURLToPath } from "node:url";

/**
 * A test run compiles the tree once (`compile.ts`), each file beside its source; a single test
 * file runs by tsx. What a test starts as a process of its own runs the same way.
 */
export const COMPILED = import.meta.url.endsWith(".js");

/** Flags of `node` with which scripts of ours run; `source-places.ts` names the sources of a failure. */
export const NODE_FLAGS = flagsOf(COMPILED);

function flagsOf(compiled: boolean): readonly string[] {
  return compiled ? [] : ["--import", import.meta.resolve("tsx")];
}

/** The file to run or import for a TypeScript file. */
export function scriptOf(file: string | URL, compiled = COMPILED): string {
  const path = file instanceof URL ? fileURLToPath(file) : file;
  return compiled ? path.replace(/\.ts$/, ".js") : path;
}

/** What follows `node` on a command line that runs a TypeScript file. */
export function nodeArguments(file: string | URL, compiled = COMPILED): readonly string[] {
  return [...flagsOf(compiled), scriptOf(file, compiled)];
}
