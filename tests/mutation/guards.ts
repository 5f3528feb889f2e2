/**
 * Goal: the machines decide. Method: turn each question the rules ask into its opposite, and take
 * each transition and each state of the machines away, one at a time in a copy of the project,
 * and run the HTTP tests there: each such mutant must be caught by one. Run by
 * `npm run prove:guards`; `--only <text>` runs the mutants whose name holds the text.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { startThrowAway } from "../support/postgres.ts";
import { guardMutants, type Mutant } from "./guard-mutants.ts";

/** The likeliest to catch a mutant of the states first; a mistake in a number shows in the rules. */
const HTTP_TESTS = ["machines", "rules", "stars"].map(
  (name) => `tests/http/voting/${name}.test.ts`,
);
/** Side by side, as two cores allow. */
const COPIES = 2;
const root = fileURLToPath(new URL("../..", import.meta.url));

/** Of the tree, what a test file needs. */
const PARTS = [
  "actors",
  "src",
  "packages",
  "migrations",
  "docs",
  "tests",
  "package.json",
  "tsconfig.json",
];

function copyProject(): string {
  const copy = mkdtempSync(join(tmpdir(), "starboard-mutants-"));
  for (const part of PARTS) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** How uvu marks a test that failed, as soon as it did. */
const FAILED = "✘";
/** A mutant may make a test hang. */
const FILE_SECONDS = 120;

/** Nothing is decided by a file that is cut off, or that ends without a failed test. */
type Outcome = "passed" | "failed" | "undecided";

/** Runs one test file up to its first failure. */
function outcomeOf(folder: string, file: string, databases: string): Promise<Outcome> {
  // A file that is cut off cannot clear up after itself.
  const own = mkdtempSync(join(tmpdir(), "starboard-mutant-"));
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--import", "tsx", file], {
      cwd: folder,
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
      env: {
        ...process.env,
        STARBOARD_TEST_DATABASE_URL: databases,
        STARBOARD_TEST_FOLDER: own,
      },
    });
    let hasFailed = false;
    const watchdog = setTimeout(() => endGroup(child), FILE_SECONDS * 1_000);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (!text.includes(FAILED)) return;
      hasFailed = true;
      endGroup(child);
    });
    child.once("exit", (status) => {
      clearTimeout(watchdog);
      rmSync(own, { recursive: true, force: true, maxRetries: 5 });
      resolve(hasFailed ? "failed" : status === 0 ? "passed" : "undecided");
    });
  });
}

/** Ends a test file with the servers it started. */
function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** @returns what the first file says that fails; without one, what a file leaves undecided */
async function verdictOf(folder: string, databases: string): Promise<Verdict> {
  let undecided: Verdict;
  for (const file of HTTP_TESTS) {
    const outcome = await outcomeOf(folder, file, databases);
    if (outcome === "failed") return { outcome, file };
    if (outcome === "undecided") undecided ??= { outcome, file };
  }
  return undecided;
}

type Verdict = { readonly outcome: Exclude<Outcome, "passed">; readonly file: string } | undefined;

/** Tries one mutant in a copy, and leaves the copy as it was. */
async function tryMutant(copy: string, { file, text }: Mutant, databases: string) {
  const started = performance.now();
  const path = join(copy, file);
  const original = readFileSync(path, "utf8");
  writeFileSync(path, text);
  const verdict = await verdictOf(copy, databases);
  writeFileSync(path, original);
  return { verdict, seconds: (performance.now() - started) / 1_000 };
}

const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });
const mutants = guardMutants().filter(({ name }) => name.includes(values.only));
if (mutants.length === 0) {
  process.stderr.write(`no mutant's name holds "${values.only}"\n`);
  process.exit(2);
}
const server = await startThrowAway();
const copies = Array.from({ length: COPIES }, copyProject);
let survivors = 0;
try {
  const [first = ""] = copies;
  const broken = await verdictOf(first, server.url);
  if (broken !== undefined) throw new Error(`${broken.file}: ${broken.outcome} without any mutant`);
  const left = [...mutants];
  await Promise.all(
    copies.map(async (copy) => {
      for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
        const { verdict, seconds } = await tryMutant(copy, mutant, server.url);
        if (verdict?.outcome !== "failed") survivors += 1;
        const by =
          verdict === undefined
            ? "SURVIVED"
            : `${verdict.outcome === "failed" ? "caught" : "NO VERDICT"} by ${verdict.file}`;
        process.stdout.write(
          `${mutant.name.padEnd(64)} ${by.padEnd(48)} ${seconds.toFixed(1)} s\n`,
        );
      }
    }),
  );
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true, force: true });
  await server.close();
}
process.stdout.write(`${mutants.length - survivors} passed, ${survivors} failed\n`);
process.exitCode = survivors === 0 ? 0 : 1;
