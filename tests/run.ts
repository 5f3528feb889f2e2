import { execFile } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { dirname, join, relative, resolve, sep } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { environment } from "../src/config.ts";
import { compileTree } from "./support/compile.ts";
import { isLate } from "./support/is-late.ts";
import { startThrowAway } from "./support/postgres.ts";
import { COMPILED, nodeArguments, scriptOf } from "./support/script.ts";
import {
  type FileResult,
  giveWay,
  isAlone,
  runTestProcess,
  secondsOf,
  type TestFile,
  type TestProcess,
} from "./support/test-process.ts";

/**
 * Runs test files:
 *
 *     node --import tsx tests/run.ts [filter…] [--jobs 4] [--in folder…] [--source] [--check]
 *
 * A filter is a part of a file's path; without one, all run. More than a few are compiled first,
 * unless they are to run from source. Short files of one folder share a process, for most of their
 * CPU goes into loading the service; the others have one of their own. As many processes as this
 * machine has cores run side by side. For each of them two more start, one at a time, while the
 * cores are idle, for most wait two thirds of their time; while the cores are busy none starts, for
 * it would miss deadlines of the product. They share one Postgres, in which each file makes databases
 * of its own, and which the cores serve before them. `--check` runs `npm run check` beside them. A
 * file that failed for want of time runs once more when the others are over, and that result counts;
 * its line says so.
 * Exit status 0 only when something passed, nothing failed and no process was left behind.
 */

const ROOT = join(import.meta.dirname, "..");
/** So few run by tsx before the tree is compiled. */
const FEW = 3;
/** When more files than these are late the product is slow, not the machine: none runs again. */
const LATE_MAX = 5;
/** So many files share a process at most: enough to load the service seldom, and to end in a minute. */
const TOGETHER = 10;
/** So much of all cores must have been idle for so long before a process more starts. */
const IDLE_SHARE = 0.2;
const IDLE_FOR_MS = 500;
/** So many processes more for each that runs in any case. */
const WHILE_IDLE = 2;
/** Folders whose files have a process each: they are about processes, or fail on purpose. */
const APART = ["tests/processes/", "tests/cli/", "tests/prove/", "tests/fixtures/runner/"];

const { values, positionals } = parseArgs({
  options: {
    jobs: { type: "string", default: String(availableParallelism()) },
    in: { type: "string", multiple: true, default: [join(ROOT, "tests"), join(ROOT, "packages")] },
    source: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
  },
  allowPositionals: true,
});

process.exitCode = await main();

async function main(): Promise<number> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  const checking = values.check ? check(stop.signal) : undefined;
  const paths = findFiles(values.in, positionals);
  const compile = !COMPILED && !values.source && paths.length > FEW;
  const tree = compile ? await compileTree() : ROOT;
  const given = environment();
  const server = given.STARBOARD_TEST_DATABASE_URL ? undefined : await startThrowAway();
  try {
    const env = server ? { ...given, STARBOARD_TEST_DATABASE_URL: server.url } : given;
    const files = paths.map((path) => ({ name: path, source: join(tree, path) }));
    const processes = longestFirst(shareProcesses(files)).map((together) =>
      testProcess(together, tree, compile || COMPILED),
    );
    const results = await runAll(processes, env, stop.signal);
    const checked = await checking;
    const late = files.filter(({ name }) =>
      results.some((one) => one.name === name && isLate(one)),
    );
    const again = late.length > LATE_MAX || stop.signal.aborted ? [] : late;
    const second = await runAll(
      again.map((file) => testProcess([file], tree, compile || COMPILED)),
      env,
      stop.signal,
      { jobs: 1, note: "its second run" },
    );
    const last = results.map((one) => second.find(({ name }) => name === one.name) ?? one);
    return summarize(checked === undefined ? last : [checked, ...last]);
  } finally {
    await server?.close();
    if (compile) rmSync(tree, { recursive: true, force: true });
  }
}

/** Lint, types, architecture and dead code, as one more file with one test. */
async function check(signal: AbortSignal): Promise<FileResult> {
  const startedAt = performance.now();
  const failure = await new Promise<string | undefined>((resolve) => {
    const done: Parameters<typeof execFile>[3] = (error, stdout, stderr) =>
      resolve(error === null ? undefined : `${stdout}${stderr}`);
    const { pid } = execFile("npm", ["run", "--silent", "check"], { signal }, done);
    giveWay(pid);
  });
  const result = {
    name: "npm run check",
    passed: failure === undefined ? 1 : 0,
    failed: failure === undefined ? 0 : 1,
    skipped: 0,
    seconds: (performance.now() - startedAt) / 1_000,
    complaint: undefined,
    output: failure ?? "",
  };
  print(describe(result));
  return result;
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

function testProcess(files: readonly TestFile[], tree: string, compiled: boolean): TestProcess {
  const [first, ...more] = files.map(({ source }) => source);
  const script = more.length === 0 ? first : join(tree, "tests/support/files-process.ts");
  const given = more.length === 0 ? [] : files.map(({ source }) => scriptOf(source, compiled));
  return { files, arguments: [...nodeArguments(script ?? "", compiled), ...given] };
}

function shareProcesses(files: readonly TestFile[]): readonly (readonly TestFile[])[] {
  const processes: TestFile[][] = [];
  const open = new Map<string, TestFile[]>();
  for (const file of files) {
    const folder = dirname(file.name);
    const isApart = isAlone(file) || APART.some((path) => file.name.startsWith(path));
    const shared = isApart ? undefined : open.get(folder);
    if (shared !== undefined && shared.length < TOGETHER) {
      shared.push(file);
      continue;
    }
    const started = [file];
    processes.push(started);
    if (!isApart) open.set(folder, started);
  }
  return processes;
}

/** What may take longest starts first, so that none of it runs alone at the end. */
function longestFirst(
  processes: readonly (readonly TestFile[])[],
): readonly (readonly TestFile[])[] {
  return [...processes].sort((a, b) => secondsOf(b) - secondsOf(a));
}

async function runAll(
  processes: readonly TestProcess[],
  env: Readonly<Record<string, string | undefined>>,
  stop: AbortSignal,
  { jobs = Math.max(1, Number(values.jobs) || 1), note = "" } = {},
): Promise<readonly FileResult[]> {
  const waiting = [...processes];
  const results: FileResult[] = [];
  const work = async (mayStart: () => Promise<void>): Promise<void> => {
    while (waiting.length > 0) {
      await mayStart();
      const next = stop.aborted ? undefined : waiting.shift();
      if (next === undefined) return;
      const ended = await runTestProcess(next, env, stop);
      results.push(...ended);
      for (const result of ended) print(describe(result, note));
    }
  };
  const atOnce = Array.from({ length: jobs }, () => work(async () => undefined));
  const idle = idleCores(() => waiting.length === 0 || stop.aborted);
  const whileIdle = Array.from({ length: jobs > 1 ? WHILE_IDLE * jobs : 0 }, () => work(idle));
  await Promise.all([...atOnce, ...whileIdle]);
  if (stop.aborted && processes.length > 0)
    print(`interrupted; ${waiting.flatMap(({ files }) => files).length} files did not run`);
  return results;
}

/** Makes a wait until the cores have been idle for a while: one who waits at a time, so that one starts. */
function idleCores(isOver: () => boolean): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  const wait = async (): Promise<void> => {
    for (let before = coreTimes(); !isOver(); before = coreTimes()) {
      await delay(IDLE_FOR_MS);
      const now = coreTimes();
      if (now.idle - before.idle >= IDLE_SHARE * (now.all - before.all)) return;
    }
  };
  return () => {
    last = last.then(wait);
    return last;
  };
}

/** What all cores have spent since the machine started, in milliseconds. */
function coreTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((core) => core.times);
  const idle = times.reduce((sum, time) => sum + time.idle, 0);
  const all = times.reduce((sum, t) => sum + t.idle + t.user + t.sys + t.nice + t.irq, 0);
  return { idle, all };
}

function describe(result: FileResult, note = ""): string {
  const seconds = `${result.seconds.toFixed(1)} s${note === "" ? "" : `, ${note}`}`;
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
