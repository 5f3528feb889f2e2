/**
 * Goal: the machines decide. Method: turn each question the machines ask into its opposite, in a
 * copy of the project, and run the HTTP tests there: each such mutant must be caught by one. Run
 * by `npm run prove:guards`; it takes some minutes.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const mutants: readonly Mutant[] = [
  {
    name: "wallet-day: liesInAnotherDay",
    file: "actors/wallet-day.ts",
    from: "dayOf(instantOf(context, event.now)) !== context.day",
    to: "dayOf(instantOf(context, event.now)) === context.day",
  },
  {
    name: "wallet-day: wasStarredAlready",
    file: "actors/wallet-day.ts",
    from: "earlierStar(context, event) !== undefined",
    to: "earlierStar(context, event) === undefined",
  },
  {
    name: "wallet-day: hasNoVoteLeft",
    file: "actors/wallet-day.ts",
    from: "context.stars.length >= event.limit",
    to: "context.stars.length < event.limit",
  },
  {
    name: "wallet-day: isLastVote",
    file: "actors/wallet-day.ts",
    from: "context.stars.length + 1 >= event.limit",
    to: "context.stars.length + 1 < event.limit",
  },
  {
    name: "wallet-day: a forever mint may repeat",
    file: "actors/wallet-day.ts",
    from: "return event.repeatable ? undefined",
    to: "return !event.repeatable ? undefined",
  },
  {
    name: "allowance: a pass counts while its season is on",
    file: "actors/allowance.ts",
    from: "startsAt <= at && at < endsAt",
    to: "!(startsAt <= at && at < endsAt)",
  },
  {
    name: "accounting: a collection A serial has not counted",
    file: "actors/nft-accounting.ts",
    from: "counted.A[serial] === undefined",
    to: "counted.A[serial] !== undefined",
  },
  {
    name: "accounting: a collection B serial is free",
    file: "actors/nft-accounting.ts",
    from: "holdings.collectionB.find((serial) => counted.B[serial] === undefined)",
    to: "holdings.collectionB.find((serial) => counted.B[serial] !== undefined)",
  },
  {
    name: "forever-mint: the wallet carries its bonus already",
    file: "actors/forever-mint.ts",
    from: "carriesBonus ? { ...fresh, b: null } : fresh",
    to: "!carriesBonus ? { ...fresh, b: null } : fresh",
  },
  {
    name: "forever-mint: the wallet's base has counted",
    file: "actors/forever-mint.ts",
    from: "context.wallets[star.wallet] === true ? 0 : BASE",
    to: "context.wallets[star.wallet] !== true ? 0 : BASE",
  },
  {
    name: "weight: the bonus needs a collection B NFT",
    file: "actors/weight.ts",
    from: "holdings.collectionB.length > 0 ?",
    to: "holdings.collectionB.length <= 0 ?",
  },
];

const HTTP_TESTS = [
  "tests/http/voting/rules.test.ts",
  "tests/http/voting/stars.test.ts",
  "tests/http/ops/api.test.ts",
];
const root = fileURLToPath(new URL("../..", import.meta.url));

function copyProject(): string {
  const copy = mkdtempSync(join(tmpdir(), "starboard-mutants-"));
  for (const part of ["actors", "src", "migrations", "tests", "package.json", "tsconfig.json"]) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** Runs one test file; true when it passes. */
function passes(folder: string, file: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--import", "tsx", file], {
      cwd: folder,
      stdio: "ignore",
    });
    child.once("exit", (status) => resolve(status === 0));
  });
}

async function killer(folder: string): Promise<string | undefined> {
  for (const file of HTTP_TESTS) if (!(await passes(folder, file))) return file;
  return undefined;
}

const copy = copyProject();
let survivors = 0;
try {
  const broken = await killer(copy);
  if (broken !== undefined) throw new Error(`${broken} fails without any mutant`);
  for (const { name, file, from, to } of mutants) {
    const path = join(copy, file);
    const original = readFileSync(path, "utf8");
    if (original.split(from).length !== 2) throw new Error(`${name}: "${from}" is not there once`);
    writeFileSync(path, original.replace(from, to));
    const caughtBy = await killer(copy);
    writeFileSync(path, original);
    if (caughtBy === undefined) survivors += 1;
    process.stdout.write(
      `${caughtBy === undefined ? "SURVIVED" : "caught  "} ${name}${caughtBy ? ` by ${caughtBy}` : ""}\n`,
    );
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
process.stdout.write(`${mutants.length - survivors} passed, ${survivors} failed\n`);
process.exitCode = survivors === 0 ? 0 : 1;
