/**
 * Goal: the planted bugs, the guards' mutants and the simulation's mistakes go along with the tree.
 * Method: each patch has its head, names test files that exist, and applies; each text to be replaced
 * stands in its file; docs/proofs.md has them all; a test file that ends without a word notices nothing.
 * That they are noticed is shown by `npm run prove:planted`, `npm run prove:guards` and
 * `npm run prove:sim-can-fail`.
 */
import * as assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import { brokenFiles, mistakes } from "../sim/mistakes.ts";
import { guardMutants } from "./guard-mutants.ts";
import { plant, readPlantedBugs } from "./patches.ts";
import { verdictOf } from "./verdict.ts";

const root = join(import.meta.dirname, "../..");

test("each patch has its head, and its name starts with its kind", () => {
  const bugs = readPlantedBugs();
  assert.ok(bugs.length >= 30, `${bugs.length} planted bugs`);
  for (const { name, kind, promise, tests } of bugs) {
    assert.ok(name.startsWith(`${kind}-`), name);
    assert.match(promise, /^P([1-9]|1[0-8])$/, name);
    for (const file of tests) assert.ok(existsSync(join(root, file)), `${name}: ${file}`);
  }
});

test("each patch applies to the tree", () => {
  for (const bug of readPlantedBugs()) plant(bug, root, "check");
});

test("each question of the rules can be turned around, each state and transition taken away", () => {
  const mutants = guardMutants();
  assert.ok(mutants.length >= 50, `${mutants.length} mutants`);
  for (const { name, file, text } of mutants)
    assert.notEqual(text, readFileSync(join(root, file), "utf8"), name);
});

test("each mistake of the simulation can be made", () => {
  assert.ok(mistakes.length >= 20, `${mistakes.length} mistakes`);
  for (const mistake of mistakes) brokenFiles(mistake, root);
});

test("docs/proofs.md has each planted bug with its promise and tests, and each mistake", () => {
  const text = readFileSync(join(root, "docs/proofs.md"), "utf8").replaceAll("`", "");
  const rows = [...text.matchAll(/^\| \w+ \| .+ \| P\d+ \| tests\/.+ \|$/gm)].map(([row]) => row);
  const wanted = readPlantedBugs().map(({ kind, bug, promise, tests }) =>
    `| ${kind} | ${bug} | ${promise} | ${tests.join(", ")} |`.replaceAll("`", ""),
  );
  const missing = wanted.filter((row) => !rows.includes(row));
  const left = rows.filter((row) => !wanted.includes(row));
  assert.deepEqual({ missing, left }, { missing: [], left: [] });
  for (const { name } of mistakes) assert.ok(text.includes(`\n| ${name} | P`), name);
});

test("a test file that was cut off or could not begin decides nothing; a failed test or assertion does", () => {
  const file = { name: "a", passed: 0, skipped: 0, seconds: 120, output: "", complaint: undefined };
  const failure = '   FAIL  suite  "a star is published"\n';
  const hook = "AssertionError [ERR_ASSERTION]: the sums differ\n";
  const late = "no end after 120 s";
  const crash = "exit status 1";
  assert.equal(verdictOf({ ...file, failed: 0 }), "missed");
  const undecided = [
    { ...file, failed: 1, complaint: late },
    { ...file, failed: 11, output: "error: syntax error at or near" },
    { ...file, failed: 1, complaint: crash },
  ];
  assert.deepEqual(
    undecided.map(verdictOf),
    [late, "a hook", crash].map((said) => ({ undecided: said })),
  );
  const noticed = [
    { ...file, failed: 1, output: failure },
    { ...file, failed: 2, output: failure.repeat(2), complaint: "no end after tests failed" },
    { ...file, failed: 1, output: failure, complaint: late },
    { ...file, failed: 11, output: hook },
    { ...file, failed: 1, output: hook, complaint: crash },
    // The names of failed tests come when all have run.
    { ...file, failed: 1, output: " suite  • ✘ ", complaint: late },
  ];
  const name = '"a star is published"';
  assert.deepEqual(
    noticed.map(verdictOf),
    [name, `${name} and 1 more`, name, "a hook", crash, late].map((said) => ({ noticed: said })),
  );
});

test.run();
