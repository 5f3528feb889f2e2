/**
 * Goal: the planted bugs and the guards' mutants go along with the tree. Method: each patch has its
 * head, names test files that exist, and applies; each question to be turned around stands in its file.
 * That tests notice them is shown by `npm run prove:planted` and `npm run prove:guards`.
 */
import * as assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import { guardMutants } from "./guard-mutants.ts";
import { plant, readPlantedBugs } from "./patches.ts";

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

test.run();
