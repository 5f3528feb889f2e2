/**
 * Goal: the simulation can fail. Method: break the service one way at a time in a copy of the
 * project, and simulate until a promise is broken. Run by
 * `npm run prove:sim-can-fail [-- --only TEXT] [--seeds 200]`.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { brokenFiles, type Mistake, mistakes } from "./mistakes.ts";

const { values } = parseArgs({
  options: { only: { type: "string" }, seeds: { type: "string", default: "200" } },
});
const VOTES_A_SEED = 300;
const SEEDS_WITHOUT_MISTAKE = 8;
const ROOT = join(import.meta.dirname, "../..");
const SEEN = /--seed (\d+) --votes/;

process.exitCode = main();

function main(): number {
  const chosen = mistakes.filter(({ name }) => name.includes(values.only ?? ""));
  if (chosen.length === 0) {
    console.error(`no mistake's name holds "${values.only}"`);
    return 2;
  }
  // A simulation that fails anyway would notice everything.
  const anyway = firstSeed({ name: "no mistake", changes: [] }, SEEDS_WITHOUT_MISTAKE);
  if (anyway !== undefined) throw new Error(`without a mistake: ${anyway}`);
  let unseen = 0;
  for (const each of chosen) {
    const seen = firstSeed(each, Number(values.seeds));
    if (seen === undefined) unseen += 1;
    console.log(`${each.name}: ${seen ?? `not seen in ${values.seeds} seeds`}`);
  }
  console.log(`${chosen.length - unseen} of ${chosen.length} seen`);
  return unseen === 0 ? 0 : 1;
}

/**
 * @returns after how many seeds, and by which promise; undefined when never
 * @throws Error with what a simulation said that broke off
 */
function firstSeed(mistake: Mistake, seeds: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "starboard-broken-"));
  try {
    for (const part of [
      "src",
      "actors",
      "tests/sim",
      "tests/support",
      "package.json",
      "tsconfig.json",
    ]) {
      cpSync(join(ROOT, part), join(folder, part), { recursive: true });
    }
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    for (const [file, text] of brokenFiles(mistake, folder))
      writeFileSync(join(folder, file), text);
    const votes = String(VOTES_A_SEED * seeds);
    const given = ["--seeds", String(seeds), "--votes", votes, "--failures", "1", "--forget"];
    const run = ["--import", "tsx", join(folder, "tests/sim/run.ts"), ...given];
    const { stdout, stderr } = spawnSync(process.execPath, run, { cwd: folder, encoding: "utf8" });
    const seed = SEEN.exec(stdout)?.[1];
    if (seed === undefined) {
      if (stdout.includes(" 0 violations\n")) return undefined;
      throw new Error(`${mistake.name}: the simulation broke off\n${stderr.slice(-2_000)}`);
    }
    const promise = stdout.split("\n").find((line) => /^(P\d+|defect):/.test(line));
    return `seen in seed ${seed}: ${promise?.slice(0, 100)}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
