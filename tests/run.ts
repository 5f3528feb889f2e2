import { readdirSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { parseArgs } from "node:util";
import { environment } from "../src/config.ts";
import { startThrowAway } from "./support/postgres.ts";
import { type FileResult, runTestFile } from "./support/test-file.ts";

/**
 * Runs test files, each as a process of its own:
 *
 *     node --import tsx tests/run.ts [filter…] [--jobs 2] [--in tests]
 *
 * A filter is a part of a file's path; without one, all run. They share one
 * Postgres, in which each makes databases of its own. Exit status 0 only when
 * something passed, nothing failed and no process was left behind.
 */

const { values, positionals } = parseArgs({
  options: {
    jobs: { type: "string", default: "2" },
    in: { type: "string", default: import.meta.dirname },
  },
  allowPositionals: true,
});

process.exitCode = await main();

async function main(): Promise<number> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  const given = environment();
  const server = given.STARBOARD_TEST_DATABASE_URL ? undefined : await startThrowAway();
  try {
    const env = server ? { ...given, STARBOARD_TEST_DATABASE_URL: server.url } : given;
    return summarize(await runAll(findFiles(values.in, positionals), env, stop.signal));
  } finally {
    await server?.close();
  }
}

/** Test files below a folder, in order; `fixtures` are files that tests run themselves. */
function findFiles(folder: string, filters: readonly string[]): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts") && !path.split(sep).includes("fixtures"))
    .map((path) => relative(process.cwd(), join(folder, path)))
    .filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter)))
    .sort();
}

async function runAll(
  files: readonly string[],
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
  const line = `${result.failed === 0 ? "✓" : "✗"} ${result.file}  ${counts(result)}  ${seconds}`;
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
