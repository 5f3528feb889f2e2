import * as assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { getPriority } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "uvu";
import { environment } from "../src/config.ts";
import { processIdentity } from "../src/local/process-identity.ts";
import { temporaryFolder } from "./support/folder.ts";
import { until } from "./support/processes.ts";
import { nodeArguments } from "./support/script.ts";
import { giveWay } from "./support/test-process.ts";

const RUNNER = join(import.meta.dirname, "run.ts");
const FIXTURES = join(import.meta.dirname, "fixtures");

interface Outcome {
  readonly status: number | null;
  readonly lines: readonly string[];
  /** The line of a file, without its seconds. */
  of(file: string): string | undefined;
}

function start(
  args: readonly string[],
  env: Record<string, string>,
): { runner: ChildProcess; output: Promise<string> } {
  const runner = spawn(process.execPath, [...nodeArguments(RUNNER), ...args], {
    env: { ...environment(), ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return { runner, output: text(runner.stdout) };
}

/** The fixtures need no database, so the runner gets one that it never asks. */
async function run(
  folder: string,
  { filters = [], file = "" }: { filters?: string[]; file?: string } = {},
): Promise<Outcome> {
  const { runner, output } = start(["--in", join(FIXTURES, folder), "--jobs", "4", ...filters], {
    STARBOARD_TEST_DATABASE_URL: "postgres://127.0.0.1:1/none",
    STARBOARD_FIXTURE_FILE: file,
  });
  await once(runner, "exit");
  const lines = (await output).trimEnd().split("\n");
  return {
    status: runner.exitCode,
    lines,
    of: (file) =>
      lines.find((line) => line.includes(`${file}.test.ts`))?.replace(/ {2}\d+\.\d s/, ""),
  };
}

const all = await run("runner");

function lineOf(file: string): string {
  return all.of(file)?.replace(/tests\/fixtures\/runner\//, "") ?? "";
}

test("a passing file is one line with its counts", () => {
  assert.equal(lineOf("passing"), "✓ passing.test.ts  2 passed, 1 skipped");
});

test("a failing file shows its counts and its whole output", () => {
  assert.equal(lineOf("failing"), "✗ failing.test.ts  1 passed, 1 failed");
  assert.ok(all.lines.some((line) => line.includes("two does not hold")));
});

test("a failure names its place in the source, not in what was compiled from it", () => {
  const place = /at .*file:\/\/.*\/failing\.test\.ts:(\d+):\d+/.exec(all.lines.join("\n"));
  const source = readFileSync(join(FIXTURES, "runner/failing.test.ts"), "utf8").split("\n");
  assert.match(source[Number(place?.[1]) - 1] ?? "", /two does not hold/);
});

test("a file that crashes before or after its tests counts as a failure more", () => {
  assert.equal(lineOf("crashing"), "✗ crashing.test.ts  0 passed, 1 failed: exit status 1");
  assert.equal(lineOf("dying"), "✗ dying.test.ts  1 passed, 1 failed: SIGKILL");
  assert.ok(all.lines.some((line) => line.includes("crashed before its tests")));
});

test("a hook that throws fails the tests it kept from running, also where its file runs alone", async () => {
  assert.equal(lineOf("broken-hook"), "✗ broken-hook.test.ts  0 passed, 1 failed");
  assert.equal(lineOf("broken-setup"), "✗ broken-setup.test.ts  0 passed, 1 failed");
  assert.ok(all.lines.some((line) => line.includes("the service did not start")));
  for (const name of ["broken-hook", "broken-setup"]) {
    const file = join(FIXTURES, `runner/${name}.test.ts`);
    const [status] = await once(spawn(process.execPath, nodeArguments(file)), "exit");
    assert.equal(status, 1, name);
  }
});

test("a file that does not end is ended after the time it asked for", () => {
  assert.equal(lineOf("hanging"), "✗ hanging.test.ts  1 passed, 1 failed: no end after 6 s");
});

test("a file with a failed test is ended soon after its tests", () => {
  assert.equal(lineOf("stuck"), "✗ stuck.test.ts  0 passed, 2 failed: no end after tests failed");
});

test("a file that ends well without a test counts as a failure", () => {
  assert.equal(lineOf("empty"), "✗ empty.test.ts  0 passed, 1 failed: has no tests");
  assert.equal(lineOf("silent"), "✗ silent.test.ts  0 passed, 1 failed: has no tests");
});

test("a process that outlives its file is ended and counts as a failure", () => {
  const [line, pid] =
    /^(.*)left behind process (\d+) \(sleep 60\)$/.exec(lineOf("leaking"))?.slice(1) ?? [];
  assert.equal(line, "✗ leaking.test.ts  1 passed, 1 failed: ");
  assert.equal(processIdentity(Number(pid)), undefined);
});

test("the last line sums up, and the exit status is 1 when anything failed", () => {
  assert.equal(all.lines.at(-1), "6 passed, 11 failed, 1 skipped");
  assert.equal(all.status, 1);
});

test("a filter picks files by a part of their path; all passed is exit status 0", async () => {
  const some = await run("runner", { filters: ["passing"] });
  assert.deepEqual([some.lines.length, some.lines.at(-1)], [2, "2 passed, 0 failed, 1 skipped"]);
  assert.equal(some.status, 0);
});

test("a run without a single file fails", async () => {
  const none = await run("runner", { filters: ["no-such-file"] });
  assert.equal(none.lines.at(-1), "0 passed, 0 failed");
  assert.equal(none.status, 1);
});

test("short files of a folder share a process, and each has its own line", async () => {
  const { of, lines } = await run("together");
  const line = (file: string) => of(file)?.replace("tests/fixtures/together/", "");
  assert.equal(line("a-first"), "✓ a-first.test.ts  1 passed");
  assert.equal(line("b-second"), "✗ b-second.test.ts  1 passed, 1 failed");
  assert.ok(lines.some((text) => text.includes("the second file fails")));
  assert.equal(line("c-dying"), "✗ c-dying.test.ts  0 passed, 1 failed: SIGKILL");
  assert.equal(line("d-last"), "✗ d-last.test.ts  0 passed, 1 failed: did not run");
  assert.equal(line("e-alone"), "✓ e-alone.test.ts  1 passed");
  assert.equal(lines.at(-1), "3 passed, 3 failed");
});

test("a process in which a file failed is ended soon after the last one's tests", async () => {
  const { of } = await run("stuck");
  const line = (file: string) => of(file)?.replace("tests/fixtures/stuck/", "");
  assert.equal(line("a-stuck"), "✗ a-stuck.test.ts  0 passed, 1 failed");
  const last = "✗ b-passing.test.ts  1 passed, 1 failed: no end after tests failed";
  assert.equal(line("b-passing"), last);
});

test("a file that was late runs once more, and says so; one that was wrong does not", async () => {
  const folder = temporaryFolder("late");
  const { lines } = await run("late", { filters: ["--source"], file: join(folder, "ran-before") });
  rmSync(folder, { recursive: true });
  const shown = lines
    .filter((line) => line.includes(".test.ts  "))
    .map((line) => line.replace("tests/fixtures/late/", "").replace(/\d+\.\d s/, "n s"));
  assert.deepEqual(shown.toSorted(), [
    "✓ late.test.ts  1 passed  n s, its second run",
    "✓ unprepared.test.ts  1 passed  n s, its second run",
    "✗ late.test.ts  0 passed, 1 failed  n s",
    "✗ unprepared.test.ts  0 passed, 1 failed  n s",
    "✗ unsaid.test.ts  1 passed, 1 failed  n s",
    "✗ wrong.test.ts  0 passed, 2 failed  n s",
  ]);
  assert.equal(lines.at(-1), "3 passed, 3 failed");
});

test("a process that already lets others go first keeps its place", async () => {
  const child = spawn("nice", ["-n", "10", "sleep", "60"], { stdio: "ignore" });
  const { pid = 0 } = child;
  await until("others go first", () => getPriority(pid) > getPriority());
  const before = getPriority(pid);
  giveWay(pid);
  const after = getPriority(pid);
  child.kill();
  assert.equal(after, before);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`${signal} ends the file that runs and the run's Postgres`, async () => {
    const folder = temporaryFolder("interrupted");
    const file = join(folder, "database");
    const { runner, output } = start(["--in", join(FIXTURES, "interrupted"), "--jobs", "1"], {
      STARBOARD_TEST_DATABASE_URL: "",
      STARBOARD_FIXTURE_FILE: file,
    });
    while (!existsSync(file) || readFileSync(file, "utf8") === "") await delay(20);
    const port = Number(new URL(readFileSync(file, "utf8")).port);
    runner.kill(signal);
    await once(runner, "exit");
    rmSync(folder, { recursive: true });
    const lines = (await output).trimEnd().split("\n");
    assert.match(lines[0] ?? "", /waiting\.test\.ts .*: interrupted$/);
    assert.deepEqual(lines.slice(-2), ["interrupted; 1 files did not run", "0 passed, 1 failed"]);
    assert.equal(lines.filter((line) => line.startsWith("interrupted;")).length, 1);
    assert.equal(runner.exitCode, 1);
    await assert.rejects(once(connect(port, "127.0.0.1"), "connect"), { code: "ECONNREFUSED" });
  });
}

test.run();
