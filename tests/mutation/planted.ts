/**
 * Goal: a green suite says something. Method: plant known bugs, one at a time in a copy of the
 * tree, and run the test files that are expected to notice them:
 *
 *     npm run prove:planted [-- --only races] [--all] [--list]
 *
 * `--only` takes the bugs whose name holds the text; names start with the kind. The files pass
 * without a bug first. A bug is caught when one of its files fails; `--all` goes on to the others,
 * and says which bugs one file alone catches. Exit status 0 only when each bug is caught.
 */
import * as assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { environment } from "../../src/config.ts";
import { compileTree } from "../support/compile.ts";
import { startThrowAway } from "../support/postgres.ts";
import { nodeArguments } from "../support/script.ts";
import { type FileResult, runTestProcess } from "../support/test-process.ts";
import { type PlantedBug, plant, readPlantedBugs } from "./patches.ts";

/** Width of the column of names. */
const NAME = 44;
/** How uvu heads a failed test: `FAIL  suite  "name"`. */
const FAIL = /FAIL .*?"(.*)"/g;

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    list: { type: "boolean", default: false },
    all: { type: "boolean", default: false },
    /** Bugs side by side. */
    lanes: { type: "string", default: "2" },
  },
});

process.exitCode = await main();

async function main(): Promise<number> {
  const bugs = readPlantedBugs().filter(({ name }) => name.includes(values.only));
  if (bugs.length === 0) {
    print(`no planted bug's name holds "${values.only}"`);
    return 2;
  }
  if (values.list) {
    for (const { name, promise, bug } of bugs) print(`${name.padEnd(NAME)} ${promise}  ${bug}`);
    return 0;
  }
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  const server = await startThrowAway();
  try {
    const env = { ...environment(), STARBOARD_TEST_DATABASE_URL: server.url };
    const run = async (tree: string, file: string): Promise<FileResult> => {
      const source = join(tree, file);
      const files = [{ name: file, source }];
      const given = { files, arguments: nodeArguments(source, true) };
      const [result] = await runTestProcess(given, env, stop.signal);
      assert.ok(result);
      return result;
    };
    await passWithoutBugs(bugs, run);
    const catches = await inLanes(bugs, (bug) => tryBug(bug, run));
    const caught = catches.filter((files) => files > 0).length;
    print(`${caught} of ${bugs.length} planted bugs caught`);
    if (values.all) {
      const alone = bugs.filter((_, index) => catches[index] === 1).map(({ name }) => name);
      print(`${alone.length} by one file alone: ${alone.join(", ")}`);
    }
    return caught === bugs.length && !stop.signal.aborted ? 0 : 1;
  } finally {
    await server.close();
  }
}

type Run = (tree: string, file: string) => Promise<FileResult>;

/** A file that fails anyway would catch everything. */
async function passWithoutBugs(bugs: readonly PlantedBug[], run: Run): Promise<void> {
  const files = [...new Set(bugs.flatMap(({ tests }) => tests))];
  const tree = compileTree();
  try {
    const results = await inLanes(files, (file) => run(tree, file));
    const failed = results.filter((result) => result.failed > 0);
    for (const { output } of failed) print(output);
    if (failed.length > 0) {
      throw new Error(`without a bug: ${failed.map(({ name }) => name).join(", ")} failed`);
    }
    print(`${files.length} test files pass without a bug`);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** @returns how many test files noticed the bug */
async function tryBug(bug: PlantedBug, run: Run): Promise<number> {
  const started = performance.now();
  const tree = compileTree((copy) => plant(bug, copy, "apply"));
  const caughtBy: string[] = [];
  try {
    for (const file of bug.tests) {
      const result = await run(tree, file);
      if (result.failed > 0) caughtBy.push(`${file}: ${failuresOf(result)}`);
      if (caughtBy.length > 0 && !values.all) break;
    }
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
  const seconds = ((performance.now() - started) / 1_000).toFixed(0);
  const verdict = caughtBy.length === 0 ? "NOT CAUGHT" : `caught by ${caughtBy.join("; ")}`;
  print(`${bug.name.padEnd(NAME)} ${bug.promise.padEnd(4)} ${seconds.padStart(4)} s  ${verdict}`);
  return caughtBy.length;
}

function failuresOf({ output, complaint = "a hook" }: FileResult): string {
  const [first, ...others] = [...output.matchAll(FAIL)].map(([, name]) => `"${name}"`);
  // An assertion of a hook ends the file without naming a test.
  if (first === undefined) return complaint;
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

/** Runs work on each item, a few side by side; answers in their order. */
async function inLanes<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const waiting = [...items.entries()];
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, item] = next;
      results[index] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Number(values.lanes) || 1) }, lane));
  return results;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
