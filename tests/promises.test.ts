/**
 * Goal: the page on promises and scenarios is true. Method: each test file of a row has a test
 * whose title names the row.
 */
import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/how-fast-how-safe.md"), "utf8");

/** The rows by what they are about, `P1` or `A1`, each with the test files that it names. */
const rows = page.split("\n").flatMap((line) => {
  const about = /^\| ([PA]\d+) /.exec(line)?.[1];
  const files = [...line.matchAll(/`(tests\/\S+\.test\.ts)`/g)].map(([, file = ""]) => file);
  return about === undefined ? [] : [{ about, files }];
});

test("every promise and every scenario has a row", () => {
  const numbered = (letter: string, count: number) =>
    Array.from({ length: count }, (_, n) => `${letter}${n + 1}`);
  assert.deepEqual(
    rows.map(({ about }) => about),
    [...numbered("P", 18), ...numbered("A", 26)],
  );
});

for (const { about, files } of rows) {
  test(`${about}: each file of its row has a test that names it`, () => {
    assert.ok(files.length > 0, "it names no test");
    const named = new RegExp(`test\\(\\s*["\`].*\\((?:.*\\b)?${about}\\b[^)]*\\)["\`]`);
    const without = files.filter((file) => !named.test(readFileSync(join(root, file), "utf8")));
    assert.deepEqual(without, []);
  });
}

test.run();
