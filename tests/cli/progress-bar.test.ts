/** `catalog import` of many records shows on a terminal how far it is, and nowhere else. */
import * as assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "uvu";
import { progressBar } from "../../src/cli/progress-bar.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type TestDatabase, testDatabase } from "../support/postgres.ts";
import { nodeArguments } from "../support/script.ts";
import { starboard } from "../support/starboard.ts";

const RECORDS = 100_000;
const ENTRY = new URL("../../src/processes/starboard.ts", import.meta.url);

let database: TestDatabase;
let folder: string;
let file: string;
test.before(async () => {
  database = await testDatabase({ migrated: true });
  folder = temporaryFolder("test-import");
  file = join(folder, "catalogue.json");
  const tokens = Array.from({ length: RECORDS / 2 }, (_, index) => ({
    id: `0.0.${index + 1}`,
    symbol: `T${index}`,
    name: `Token ${index}`,
  }));
  const projects = Array.from({ length: RECORDS / 2 }, (_, index) => ({
    id: `p${index}`,
    name: `Project ${index}`,
    category: "DATA",
  }));
  writeFileSync(file, JSON.stringify({ tokens, projects }));
});
test.after(async () => {
  rmSync(folder, { recursive: true, force: true });
  await database.close();
});

function drawn(columns: number | undefined) {
  const written: string[] = [];
  const bar = progressBar(
    { isTTY: true, ...(columns && { columns }), write: (text) => written.push(text) },
    "records",
  );
  return { bar, written };
}

test("progress without a known end is counted, and never shown as done", () => {
  const { bar, written } = drawn(100);
  bar.show(1_200, null);
  assert.match(written.join(""), /1,200 /);
  assert.doesNotMatch(written.join(""), /%|#/);
});

test("a bar shows the share and both numbers, redraws only what changed, and disappears at the end", () => {
  const { bar, written } = drawn(100);
  bar.show(0, 2_000);
  bar.show(1_000, 2_000);
  bar.show(1_000, 2_000);
  bar.end();
  bar.end();
  assert.deepEqual(written, [
    `\r\u001b[2K[${"-".repeat(40)}] 0 %  0 of 2,000 records`,
    `\r\u001b[2K[${"#".repeat(20)}${"-".repeat(20)}] 50 %  1,000 of 2,000 records`,
    "\r\u001b[2K",
  ]);
});

test("no line is wider than its terminal, however narrow; no records are all records", () => {
  for (const columns of [undefined, 10, 40, 60, 200]) {
    const { bar, written } = drawn(columns);
    bar.show(100_000, 100_000);
    bar.show(0, 0);
    const widest = Math.max(...written.map((text) => text.slice(5).length));
    assert.ok(widest <= Math.max(columns ?? 80, 40), `${columns}: ${widest}`);
    assert.match(written.at(-1) ?? "", /100 %/);
  }
});

test("an output that is no terminal gets no bar", () => {
  const written: string[] = [];
  const bar = progressBar({ write: (text) => written.push(text) }, "records");
  bar.show(1, 2);
  bar.end();
  assert.deepEqual(written, []);
});

test("an import into a pipe, and one that prints JSON, writes nothing but its result", async () => {
  const settings = { DATABASE_URL: database.url };
  const piped = await starboard(["catalog", "import", file], settings);
  assert.equal(piped.status, 0, piped.stderr);
  assert.equal(piped.stderr, "");
  const json = await onTerminal(["catalog", "import", file, "--json"]);
  if (json === undefined) return;
  assert.equal(JSON.parse(json).imported.tokens, RECORDS / 2);
});

test("on a terminal the bar moves while the one statement stores all records", async () => {
  const text = await onTerminal(["catalog", "import", file, "--approve"]);
  if (text === undefined) {
    process.stdout.write("skipped: there is no `script` here to make a terminal\n");
    return;
  }
  const shares = [...text.matchAll(/ (\d+) % {2}([\d,]+) of 100,000 records/g)].map(([, share]) =>
    Number(share),
  );
  assert.ok(shares.length > 50, `${shares.length} steps`);
  assert.deepEqual(
    shares,
    [...shares].sort((a, b) => a - b),
  );
  assert.equal(shares[0], 0);
  assert.equal(shares.at(-1), 100);
  const left = text.split("\u001b[2K").at(-1) ?? "";
  assert.equal(
    left.trim(),
    "imported 0 events, 50000 tokens, 0 collections, 50000 projects; 100000 approved",
    "the bar is gone",
  );
});

/** Runs a command whose outputs are a terminal. */
async function onTerminal(args: readonly string[]): Promise<string | undefined> {
  if (spawnSync("script", ["--version"]).status !== 0) return undefined;
  const words = [process.execPath, ...nodeArguments(ENTRY), ...args];
  const line = words.map((word) => `'${word}'`).join(" ");
  const { PATH = "", HOME = "" } = process.env;
  const env = { PATH, HOME, DATABASE_URL: database.url, TERM: "xterm" };
  const options = { env, maxBuffer: 16 * 1024 * 1024 };
  return (await promisify(execFile)("script", ["-qec", line, "/dev/null"], options)).stdout;
}

test.run();
