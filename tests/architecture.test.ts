/**
 * Goal: the structure stays what ARCHITECTURE.md draws. Method: read every import, types
 * included, and hold it against the rows. The linter judges each file by itself; what lies
 * between files is stated here, once. And the pages name files that exist.
 */
import * as assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "uvu";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Top row first; imports run strictly downward, a row never imports its own row. */
const rows = [
  ["processes"],
  ["http"],
  ["voting", "cli", "demo"],
  ["recovery"],
  ["hosting", "upkeep", "audit"],
  ["journal", "publishing", "reads", "keys", "catalogue", "holdings", "local"],
  ["ledger", "store"],
  ["addresses.ts", "failpoint.ts"],
  ["bounds.ts", "config.ts", "errors.ts", "clock.ts", "log.ts", "metrics.ts", "tracing.ts"],
  [
    "batcher.ts",
    "counted.ts",
    "load-once.ts",
    "repeated-key.ts",
    "service.ts",
    "this-build.ts",
    "uuid.ts",
    "with-deadline.ts",
    "yield-to-event-loop.ts",
    "vendor-patches",
  ],
];

interface Import {
  readonly from: string;
  /** A path below the root, or a package's name. */
  readonly to: string;
}

function sources(...folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /(?<!\.d)\.tsx?$/.test(name))
      .map((name) => join(folder, name)),
  );
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), "utf8");
  const found = text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g);
  return [...found].map(([, target = ""]) => ({
    from: file,
    to: target.startsWith(".") ? relative(root, resolve(root, dirname(file), target)) : target,
  }));
}

/** `src/http/v1/x.ts` → `http`; `src/config.ts` → `config.ts`. */
function room(path: string): string {
  return path.split("/")[1] ?? "";
}

const rowOf = (path: string): number => rows.findIndex((row) => row.includes(room(path)));
const all = sources("src", "actors").flatMap(importsOf);

test("every file of src belongs to a row", () => {
  const homeless = sources("src").filter((file) => rowOf(file) === -1);
  assert.deepEqual(homeless, []);
});

test("ARCHITECTURE.md has every row, with all that is in it", () => {
  const text = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const named = [...text.matchAll(/^\| \d+ \| (`[^|]+`) \|/gm)].map(([, names = ""]) =>
    names.split(", ").map((name) => name.replaceAll("`", "")),
  );
  const there = rows.map((row) => row.map((name) => name.replace(/\.ts$/, "")));
  assert.deepEqual(named, there);
});

test("imports run strictly downward, and no row imports its own", () => {
  const upward = all.filter(
    ({ from, to }) =>
      from.startsWith("src/") &&
      to.startsWith("src/") &&
      room(from) !== room(to) &&
      rowOf(to) <= rowOf(from),
  );
  assert.deepEqual(upward, []);
});

/** Removes imports that start or end a path until only cycles are left. */
function circular(imports: readonly Import[]): readonly string[] {
  const importers = new Set(imports.map(({ from }) => from));
  const imported = new Set(imports.map(({ to }) => to));
  const inner = imports.filter(({ from, to }) => importers.has(to) && imported.has(from));
  if (inner.length < imports.length) return circular(inner);
  return imports.map(({ from, to }) => `${from} → ${to}`);
}

test("there is no import cycle, types included", () => {
  const imports = sources("src", "actors", "tests", "packages").flatMap(importsOf);
  assert.deepEqual(circular(imports), []);
});

/** Pages for people: README, ARCHITECTURE, CHANGELOG and everything in docs/. */
function pages(): string[] {
  const below = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" });
  const top = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"];
  return [
    ...top,
    ...below.filter((name) => name.endsWith(".md")).map((name) => join("docs", name)),
  ];
}

test("every file that a page names or links to is there", () => {
  const missing = pages().flatMap((page) => {
    const text = readFileSync(join(root, page), "utf8");
    const named = [...text.matchAll(/`((?:src|actors|migrations|tests|packages)\/[^`\s<]*)`/g)];
    const linked = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)];
    const paths = [
      ...named.map(([, path = ""]) => path),
      ...linked.map(([, path = ""]) => join(dirname(page), path)),
    ];
    return paths.filter((path) => !existsSync(join(root, path))).map((path) => `${page}: ${path}`);
  });
  assert.deepEqual(missing, []);
});

test("every file has a specific name", () => {
  const vague = sources("src", "actors", "tests", "packages").filter((file) =>
    /(^|[/.-])(utils?|helpers?|managers?|common)[/.-]/.test(file),
  );
  assert.deepEqual(vague, []);
});

test("no SQL statement is built from text", () => {
  const users = sources("src").filter((file) =>
    /\.unsafe\(/.test(readFileSync(join(root, file), "utf8")),
  );
  // A migration is a script of many statements, as it lies in its file.
  assert.deepEqual(users, ["src/store/migrate.ts"]);
});

test("actors import xstate and each other, nothing else", () => {
  const outside = all.filter(
    ({ from, to }) => from.startsWith("actors/") && !to.startsWith("actors/") && to !== "xstate",
  );
  assert.deepEqual(outside, []);
});

test("src imports no tests, and the typed client only where a voter speaks: the demo, browser scripts", () => {
  assert.deepEqual(
    all.filter(
      ({ from, to }) =>
        to.startsWith("tests/") ||
        (to.startsWith("packages/") && !/^src\/(cli\/demo|http\/pages\/browser\/)/.test(from)),
    ),
    [],
  );
});

test("the checker of chaos judges by files of its own: it imports nothing of what it judges", () => {
  const checker = ["tests/chaos/check.ts", "tests/chaos/evidence.ts"];
  const outside = checker
    .flatMap(importsOf)
    .filter(({ to }) => !checker.includes(to) && to !== "postgres" && !to.startsWith("node:"));
  assert.deepEqual(outside, []);
});

test("the ledger SDK is known to two files: the nodes, and the topics on them", () => {
  const importers = all.filter(({ to }) => to === "@hashgraph/sdk").map(({ from }) => from);
  assert.deepEqual([...new Set(importers)].sort(), [
    "src/ledger/consensus-nodes.ts",
    "src/ledger/hedera-topic.ts",
  ]);
});

test("the machines know no clock, no randomness and no environment", () => {
  const impure = sources("actors").filter((file) =>
    /Date\.now|new Date\(\)|Math\.random|randomUUID|process\.|setTimeout/.test(
      readFileSync(join(root, file), "utf8"),
    ),
  );
  assert.deepEqual(impure, []);
});

test("the environment is read by config.ts alone", () => {
  // An escaped placeholder is text: the example that a consumer of the API will run.
  const readers = sources("src").filter((file) =>
    /(?<!\\\$\{)process\.env/.test(readFileSync(join(root, file), "utf8")),
  );
  assert.deepEqual(readers, ["src/config.ts"]);
});

test("serving code holds no transaction open and cancels no statement", () => {
  // postgres.js 3.4.9 ends the process when a connection is lost inside a transaction, and mixes
  // up answers on a pipelined connection where a statement is cancelled or read by a cursor.
  const users = sources("src").filter((file) =>
    /\b(sql|pool)\.(begin|reserve)\(|\.cursor\(|`\.cancel\(/.test(
      readFileSync(join(root, file), "utf8"),
    ),
  );
  // A migration that lost its connection has failed anyway.
  assert.deepEqual(users, ["src/store/migrate.ts"]);
});

test.run();
