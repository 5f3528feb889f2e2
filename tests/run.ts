import { readdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative, resolve, sep } from "node:path";
import { parseArgs } from "node:util";
import { environment } from "../src/config.ts";
import { compileTree } from "./support/compile.ts";
import { startThrowAway } from "./support/postgres.ts";
import { COMPILED, nodeArguments } from "./support/script.ts";
import { type FileResult, runTestFile, type TestFile, timeoutOf } from "./support/test-file.ts";

/**
 * Runs test files, each as a process of its own:
 *
 *     node --import tsx tests/run.ts [filter…] [--jobs 4] [--in folder…] [--source]
 *
 * A filter is a part of a file's path; without one, all run. More than a few are compiled first,
 * unless they are to run from source. Twice as many as this machine has cores run side by side, for
 * they wait half of their time. They share one Postgres, in which each makes databases of
 * its own. Exit status 0 only when something passed, nothing failed and no process was left behind.
 */

const ROOT = join(import.meta.dirname, "..");
/** So few run by tsx before the tree is compiled. */
const FEW = 3;

const { values, positionals } = parseArgs({
  options: {
    jobs: { type: "string", default: String(2 * availableParallelism()) },
    in: { type: "string", multiple: true, default: [join(ROOT, "tests"), join(ROOT, "packages")] },
    source: { type: "boolean", default: false },
  },
  allowPositionals: true,
});

process.exitCode = await main();

async function main(): Promise<number> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  const paths = findFiles(values.in, positionals);
  const compile = !COMPILED && !values.source && paths.length > FEW;
  const tree = compile ? compileTree() : ROOT;
  const given = environment();
  const server = given.STARBOARD_TEST_DATABASE_URL ? undefined : await startThrowAway();
  try {
    const env = server ? { ...given, STARBOARD_TEST_DATABASE_URL: server.url } : given;
    const files = paths.map((path) => testFile(path, tree, compile || COMPILED));
    return summarize(await runAll(longestFirst(files), env, stop.signal));
  } finally {
    await server?.close();
    if (compile) rmSync(tree, { recursive: true, force: true });
  }
}

/** Test files below folders, by their path in the tree; `fixtures` are files that tests run. */
function findFiles(folders: readonly string[], filters: readonly string[]): readonly string[] {
  return folders
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((path) => path.endsWith(".test.ts") && !path.split(sep).includes("fixtures"))
        .map((path) => relative(ROOT, resolve(folder, path))),
    )
    .filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter)))
    .sort();
}

function testFile(name: string, tree: string, compiled: boolean): TestFile {
  const source = join(tree, name);
  return { name, source, arguments: nodeArguments(source, compiled) };
}

/** Files that ask for more time start first, so that none of them runs alone at the end. */
function longestFirst(files: readonly TestFile[]): readonly TestFile[] {
  return [...files].sort((a, b) => (timeoutOf(b) ?? 0) - (timeoutOf(a) ?? 0));
}

async function runAll(
  files: readonly TestFile[],
  env: Readonly<Record<string, string | undefined>>,
  stop: AbortSignal,
): Promise<readonly FileResult[]> {
  const waiting = [...files];
  const results: FileResult[] = [];
  const work = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      if (stop.aborted) return;
      const result = await runTestFile(file, env, stop);
      results.push(result);
      print(describe(result));
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Number(values.jobs) || 1) }, work));
  if (stop.aborted) print(`interrupted; ${waiting.length} files did not run`);
  return results;
}

function describe(result: FileResult): string {
  const seconds = `${result.seconds.toFixed(1)} s`;
  const line = `${result.failed === 0 ? "✓" : "✗"} ${result.name}  ${counts(result)}  ${seconds}`;
  if (result.failed === 0) return line;
  const complaint = result.complaint === undefined ? "" : `: ${result.complaint}`;
  return `${line}${complaint}\n${result.output.trimEnd()}\n`;
}

function summarize(results: readonly FileResult[]): number {
  const sum = (of: "passed" | "failed" | "skipped"): number =>
    results.reduce((total, result) => total + result[of], 0);
  const failed = sum("failed");
  if (results.length === 0) print("no test file found");
  print(counts({ passed: sum("passed"), failed, skipped: sum("skipped") }, true));
  return failed === 0 && results.length > 0 ? 0 : 1;
}

function counts(of: Pick<FileResult, "passed" | "failed" | "skipped">, always = false): string {
  const failed = of.failed > 0 || always ? `, ${of.failed} failed` : "";
  const skipped = of.skipped > 0 ? `, ${of.skipped} skipped` : "";
  return `${of.passed} passed${failed}${skipped}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
