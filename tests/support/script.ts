import { fileURLToPath } from "node:url";

/**
 * A test run compiles the tree once (`compile.ts`), each file beside its source; a single test
 * file runs by tsx. What a test starts as a process of its own runs the same way.
 */
export const COMPILED = import.meta.url.endsWith(".js");

/**
 * Most processes of a run end before optimized code has paid for its making. Under this flag, which
 * Node 20 alone knows, a function runs nine times as long before V8 optimizes it.
 */
const OPTIMIZE_LATE = "--interrupt-budget=600000";

/** Flags of `node` with which scripts of ours run; `source-places.ts` names the sources of a failure. */
export const NODE_FLAGS = flagsOf(COMPILED, process.version);

function flagsOf(compiled: boolean, version: string): readonly string[] {
  if (!compiled) return ["--import", import.meta.resolve("tsx")];
  return version.startsWith("v20.") ? [OPTIMIZE_LATE] : [];
}

/** The file to run or import for a TypeScript file. */
export function scriptOf(file: string | URL, compiled = COMPILED): string {
  const path = file instanceof URL ? fileURLToPath(file) : file;
  return compiled ? path.replace(/\.ts$/, ".js") : path;
}

/**
 * What follows `node` on a command line that runs a TypeScript file.
 *
 * @param version of that `node`
 */
export function nodeArguments(
  file: string | URL,
  compiled = COMPILED,
  version = process.version,
): readonly string[] {
  return [...flagsOf(compiled, version), scriptOf(file, compiled)];
}
