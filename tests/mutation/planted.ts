/**
 * Goal: the suite notices bugs. Method: plant known bugs, one at a time in a copy of the
 * tree, and run the test files that are expected to notice them:
 *
 *     npm run prove:planted [-- --only races,bounds-no-deadline] [--all] [--list] [--state FOLDER]
 *
 * `--only` takes the bugs whose name holds one of the texts; names start with the kind. The files
 * pass without a bug first. A bug is caught when a test or an assertion of one of its files fails; a
 * file that could not begin, or did not end in its time, decides nothing. `--all` goes on to the
 * others, and says which bugs one file alone catches. `--state` keeps each verdict in a folder, and a
 * run that was interrupted goes on from there as long as the sources are the same. Exit status 0 only
 * when each bug is caught.
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
import { type KeptVerdicts, keepVerdicts } from "./kept-verdicts.ts";
import { type PlantedBug, plant, readPlantedBugs } from "./patches.ts";
import { verdictOf } from "./verdict.ts";

/** Width of the column of names. */
const NAME = 44;

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    list: { type: "boolean", default: false },
    all: { type: "boolean", default: false },
    state: { type: "string" },
    /** Bugs side by side. */
    lanes: { type: "string", default: "2" },
  },
});

process.exitCode = await main();

async function main(): Promise<number> {
  const wanted = values.only.split(",");
  const bugs = readPlantedBugs().filter(({ name }) => wanted.some((text) => name.includes(text)));
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
    const run: Given["run"] = async (tree, file) => {
      const source = join(tree, file);
      const files = [{ name: file, source }];
      const given = { files, arguments: nodeArguments(source, true) };
      const [result] = await runTestProcess(given, env, stop.signal);
      assert.ok(result);
      return result;
    };
    const given: Given = {
      run,
      stop: stop.signal,
      kept: keepVerdicts(values.state, values.all ? "all" : "first"),
    };
    await passWithoutBugs(bugs, given);
    const catches = await inLanes(bugs, stop.signal, (bug) => verdictOn(bug, given));
    if (stop.signal.aborted) {
      print(
        `stopped: ${catches.filter((files) => files !== undefined).length} of ${bugs.length} tried`,
      );
      return 1;
    }
    const caught = catches.filter((files = 0) => files > 0).length;
    print(`${caught} of ${bugs.length} planted bugs caught`);
    if (values.all) {
      const alone = bugs.filter((_, index) => catches[index] === 1).map(({ name }) => name);
      print(`${alone.length} by one file alone: ${alone.join(", ")}`);
    }
    return caught === bugs.length ? 0 : 1;
  } finally {
    await server.close();
  }
}

interface Given {
  /** Runs a test file of a compiled tree. */
  readonly run: (tree: string, file: string) => Promise<FileResult>;
  readonly stop: AbortSignal;
  readonly kept: KeptVerdicts;
}

/** A file that fails anyway would catch everything. */
async function passWithoutBugs(bugs: readonly PlantedBug[], given: Given): Promise<void> {
  const { run, stop, kept } = given;
  const files = [...new Set(bugs.flatMap(({ tests }) => tests))];
  const left = files.filter((file) => kept.find(file) === undefined);
  if (left.length === 0) return print(`${files.length} test files passed without a bug before`);
  const tree = await compileTree();
  try {
    const results = await inLanes(left, stop, async (file) => {
      const result = await run(tree, file);
      if (result.failed === 0 && !stop.aborted) kept.keep(file, []);
      return result;
    });
    if (stop.aborted) return;
    const failed = results.flatMap((result) => (result && result.failed > 0 ? [result] : []));
    for (const { output } of failed) print(output);
    if (failed.length > 0) {
      throw new Error(`without a bug: ${failed.map(({ name }) => name).join(", ")} failed`);
    }
    print(`${files.length} test files pass without a bug`);
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** @returns how many test files noticed the bug, in this run or in the one it goes on from */
async function verdictOn(bug: PlantedBug, given: Given): Promise<number> {
  const started = performance.now();
  const known = given.kept.find(bug.name);
  const { caughtBy, undecided } =
    known === undefined ? await tryBug(bug, given) : { caughtBy: known, undecided: [] };
  if (given.stop.aborted) return 0;
  if (known === undefined && undecided.length === 0) given.kept.keep(bug.name, caughtBy);
  const seconds = ((performance.now() - started) / 1_000).toFixed(0);
  const verdict = [
    ...(caughtBy.length > 0 ? [`caught by ${caughtBy.join("; ")}`] : []),
    ...(undecided.length > 0 ? [`NO VERDICT by ${undecided.join("; ")}`] : []),
  ];
  print(
    `${bug.name.padEnd(NAME)} ${bug.promise.padEnd(4)} ${seconds.padStart(4)} s  ${verdict.join("; ") || "NOT CAUGHT"}`,
  );
  return caughtBy.length;
}

interface Tried {
  /** The test files that noticed the bug, with what they said. */
  readonly caughtBy: readonly string[];
  /** Those that were cut off, or could not begin. */
  readonly undecided: readonly string[];
}

async function tryBug(bug: PlantedBug, { run, stop }: Given): Promise<Tried> {
  const tree = await compileTree((copy) => plant(bug, copy, "apply"));
  const caughtBy: string[] = [];
  const undecided: string[] = [];
  try {
    for (const file of bug.tests) {
      const verdict = verdictOf(await run(tree, file));
      if (stop.aborted) break;
      if (verdict === "missed") continue;
      if ("noticed" in verdict) caughtBy.push(`${file}: ${verdict.noticed}`);
      else undecided.push(`${file}: ${verdict.undecided}`);
      if (caughtBy.length > 0 && !values.all) break;
    }
    return { caughtBy, undecided };
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

/** Runs work on each item, a few side by side; answers in their order, none for those after a stop. */
async function inLanes<Item, Result>(
  items: readonly Item[],
  stop: AbortSignal,
  work: (item: Item) => Promise<Result>,
): Promise<readonly (Result | undefined)[]> {
  const results = items.map((): Result | undefined => undefined);
  const waiting = [...items.entries()];
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, item] = next;
      const result = await work(item);
      if (stop.aborted) return;
      results[index] = result;
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Number(values.lanes) || 1) }, lane));
  return results;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
