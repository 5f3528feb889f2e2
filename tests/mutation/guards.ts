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
import { changesOf, listedStates } from "../support/machine-changes.ts";
import { startThrowAway } from "../support/postgres.ts";

interface Mutant {
  readonly name: string;
  readonly file: string;
  /** The file's text with the mistake in it. */
  readonly text: string;
}

/** A question, where it stands, and its opposite. */
type Question = readonly [name: string, file: string, from: string, to: string];

const questions: readonly Question[] = [
  [
    "wallet-day: liesInAnotherDay",
    "actors/wallet-day.ts",
    "dayOf(instantOf(context, now)) !== context.day",
    "dayOf(instantOf(context, now)) === context.day",
  ],
  [
    "wallet-day: wasStarredAlready",
    "actors/wallet-day.ts",
    "earlierStar(context, star) !== undefined",
    "earlierStar(context, star) === undefined",
  ],
  [
    "wallet-day: usesTheLastVote",
    "actors/wallet-day.ts",
    "context.stars.length + 1 >= context.limit",
    "context.stars.length + 1 < context.limit",
  ],
  [
    "wallet-day: leavesNoVote",
    "actors/wallet-day.ts",
    "stars.length >= voteLimit(day, seasonId)",
    "!(stars.length >= voteLimit(day, seasonId))",
  ],
  [
    "wallet-day: leavesAVote",
    "actors/wallet-day.ts",
    "stars.length < voteLimit(day, seasonId)",
    "!(stars.length < voteLimit(day, seasonId))",
  ],
  [
    "wallet-day: a forever mint may repeat",
    "actors/wallet-day.ts",
    'target.rule.scope === "forever-mint"',
    'target.rule.scope !== "forever-mint"',
  ],
  [
    "mint-wallet: bringsTheBonus",
    "actors/mint-wallet.ts",
    "event.claims.b !== null",
    "event.claims.b === null",
  ],
  [
    "allowance: a pass makes it twenty",
    "actors/allowance.ts",
    "seasonId === null ? freeVotes",
    "seasonId !== null ? freeVotes",
  ],
  [
    "journal: a pass is in force while its season is on",
    "src/journal/load.ts",
    "starts_at <= voter.instant and voter.instant < ends_at",
    "not (starts_at <= voter.instant and voter.instant < ends_at)",
  ],
  [
    "journal: a star is stored under the pass of its instant",
    "migrations/004.do.cast-stars.sql",
    "starts_at <= offered.at and offered.at < ends_at",
    "not (starts_at <= offered.at and offered.at < ends_at)",
  ],
  [
    "accounting: a collection A serial has not counted",
    "actors/nft-accounting.ts",
    "holdings.collectionA.filter((serial) => counted.A[serial] === undefined)",
    "holdings.collectionA.filter((serial) => counted.A[serial] !== undefined)",
  ],
  [
    "accounting: a collection B serial is free",
    "actors/nft-accounting.ts",
    "holdings.collectionB.find((serial) => counted.B[serial] === undefined)",
    "holdings.collectionB.find((serial) => counted.B[serial] !== undefined)",
  ],
  [
    "weight: the bonus needs a collection B NFT",
    "actors/weight.ts",
    "holdings.collectionB.length > 0 ?",
    "holdings.collectionB.length <= 0 ?",
  ],
];

const MACHINES = ["wallet-day", "event-day", "forever-mint", "mint-wallet"];
/** The likeliest to catch a mutant of the states first; a mistake in a number shows in the rules. */
const HTTP_TESTS = ["machines", "rules", "stars"].map(
  (name) => `tests/http/voting/${name}.test.ts`,
);
/** Side by side, as two cores allow. */
const COPIES = 2;
const root = fileURLToPath(new URL("../..", import.meta.url));

function invertedQuestions(): readonly Mutant[] {
  return questions.map(([name, file, from, to]) => {
    const source = readFileSync(join(root, file), "utf8");
    if (source.split(from).length !== 2) throw new Error(`${name}: "${from}" is not there once`);
    return { name: `${name}, inverted`, file, text: source.replace(from, () => to) };
  });
}

/** Where a machine's first state and its states are written: plain data to the end of the machine. */
const WRITTEN = /^ {2}initial: "(\w+)",\n {2}states: ([\s\S]*?),\n\}\);/m;

function changedStates(machine: string): readonly Mutant[] {
  const file = `actors/${machine}.ts`;
  const source = readFileSync(join(root, file), "utf8");
  const [, initial = "", text = ""] = WRITTEN.exec(source) ?? [];
  const states = listedStates(new Function(`return (${text});`)());
  if (Object.keys(states).length === 0) throw new Error(`${file} has no states`);
  return changesOf(states, initial).map((change) => {
    const written = `  initial: "${change.initial}",\n  states: ${JSON.stringify(change.states)},\n});`;
    const name = `${machine}: ${change.name}`;
    return { name, file, text: source.replace(WRITTEN, () => written) };
  });
}

/** Of the tree, what a test file needs. */
const PARTS = ["actors", "src", "packages", "migrations", "tests", "package.json", "tsconfig.json"];

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

/** Runs one test file up to its first failure; true when it passes whole. */
function passes(folder: string, file: string, databases: string): Promise<boolean> {
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
    let isCut = false;
    const cut = (): void => {
      isCut = true;
      endGroup(child);
    };
    const watchdog = setTimeout(cut, FILE_SECONDS * 1_000);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes(FAILED)) cut();
    });
    child.once("exit", (status) => {
      clearTimeout(watchdog);
      rmSync(own, { recursive: true, force: true, maxRetries: 5 });
      resolve(status === 0 && !isCut);
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

async function killer(folder: string, databases: string): Promise<string | undefined> {
  for (const file of HTTP_TESTS) if (!(await passes(folder, file, databases))) return file;
  return undefined;
}

/** Tries one mutant in a copy, and leaves the copy as it was. */
async function tryMutant(copy: string, { file, text }: Mutant, databases: string) {
  const started = performance.now();
  const path = join(copy, file);
  const original = readFileSync(path, "utf8");
  writeFileSync(path, text);
  const caughtBy = await killer(copy, databases);
  writeFileSync(path, original);
  return { caughtBy, seconds: (performance.now() - started) / 1_000 };
}

const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });
const mutants = [...invertedQuestions(), ...MACHINES.flatMap(changedStates)].filter(({ name }) =>
  name.includes(values.only),
);
const server = await startThrowAway();
const copies = Array.from({ length: COPIES }, copyProject);
let survivors = 0;
try {
  const [first = ""] = copies;
  const broken = await killer(first, server.url);
  if (broken !== undefined) throw new Error(`${broken} fails without any mutant`);
  const left = [...mutants];
  await Promise.all(
    copies.map(async (copy) => {
      for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
        const { caughtBy, seconds } = await tryMutant(copy, mutant, server.url);
        if (caughtBy === undefined) survivors += 1;
        const by = caughtBy === undefined ? "SURVIVED" : `caught by ${caughtBy}`;
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
