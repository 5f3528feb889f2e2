/**
 * Goal: lines that are written together are all written, in their order and whole. Method: real
 * processes that log and end in different ways, into a pipe that is read or not, and a file.
 */
import * as assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import { test } from "uvu";
import { NODE_FLAGS, scriptOf } from "./support/script.ts";

/** Runs a script that has a `log`, and reads its standard error; kills it after so many lines. */
async function run(script: string, { readAfterMs = 0, killAfter = Number.POSITIVE_INFINITY } = {}) {
  const log = pathToFileURL(scriptOf(new URL("../src/log.ts", import.meta.url))).href;
  const child = spawn(
    process.execPath,
    [...NODE_FLAGS, "--input-type=module", "-e", `${SETUP(log)}${script}`],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  if (readAfterMs > 0) await new Promise((resolve) => setTimeout(resolve, readAfterMs));
  let written = "";
  for await (const piece of child.stderr.setEncoding("utf8")) {
    written += piece;
    if (written.split("\n").length > killAfter) child.kill("SIGKILL");
  }
  const lines = written.split("\n").slice(0, -1);
  return { status: await ended, written, lines: lines.map((line): Line => JSON.parse(line)) };
}

interface Line {
  readonly level: number;
  readonly n?: number;
  readonly msg: string;
}

/** For so long a process does nothing that would write what it has not written yet. */
const SILENT_MS = 30_000;
const SETUP = (log: string) => `
  import { createLogger } from ${JSON.stringify(log)};
  const log = createLogger("info", "test");
`;

const numbers = (lines: readonly Line[]) => lines.map(({ n }) => n);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

test("a process that ends by itself has written every log line, in order", async () => {
  const { status, lines } = await run(
    `for (let n = 0; n < 3000; n++) log.info({ n }, "a word, ünd ein Wort");`,
  );
  assert.equal(status, 0);
  assert.deepEqual(numbers(lines), upTo(3_000));
  assert.ok(lines.every(({ msg }) => msg === "a word, ünd ein Wort"));
});

test("a process that exits while lines are on their way has written every line", async () => {
  const { status, lines } = await run(`
    for (let n = 0; n < 400; n++) log.info({ n }, "early");
    setImmediate(() => {
      for (let n = 400; n < 500; n++) log.info({ n }, "late");
      process.exit(3);
    });`);
  assert.equal(status, 3);
  assert.deepEqual(
    numbers(lines).toSorted((a, b) => Number(a) - Number(b)),
    upTo(500),
  );
});

test("a pipe that is read late gets every line, whole and in order", async () => {
  const { status, lines } = await run(
    `for (let n = 0; n < 20000; n++) log.info({ n }, "x".repeat(40));`,
    { readAfterMs: 2_000 },
  );
  assert.equal(status, 0);
  assert.deepEqual(numbers(lines), upTo(20_000));
});

test("a single line does not wait for others", async () => {
  const { status, lines } = await run(
    `log.info({ n: 0 }, "alone");
    setTimeout(() => undefined, ${SILENT_MS});`,
    { killAfter: 1 },
  );
  assert.equal(status, null, "it was written before the process ended");
  assert.deepEqual(numbers(lines), [0]);
});

test("a warning does not wait at all", async () => {
  const { status, lines } = await run(
    `log.info({ n: 0 }, "before");
    log.warn({ n: 1 }, "careful");
    // No timer fires from here on.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${SILENT_MS});`,
    { killAfter: 2 },
  );
  assert.equal(status, null, "they were written before the process ended");
  assert.deepEqual(numbers(lines), [0, 1]);
});

test("a line commands no terminal, and says the same", async () => {
  const msg = "\u001b[2J\u009b31m\u007f\u202eb\u00e4\ud83c\udf1f";
  const { written, lines } = await run(`log.warn(${JSON.stringify(msg)});`);
  assert.equal(lines[0]?.msg, msg);
  assert.ok(!/[\x7f-\x9f\u202e]/.test(written), written);
  assert.ok(written.includes("b\u00e4\ud83c\udf1f"), written);
});

test("secrets stay out of lines", async () => {
  const fields = ["operatorKey", "operatorToken", "key", "token", "signature", "authorization"];
  const secret = JSON.stringify(Object.fromEntries(fields.map((field) => [field, "a secret"])));
  const { lines } = await run(`log.info({ ...${secret}, given: ${secret} }, "one");`);
  const redacted = Object.fromEntries(fields.map((field) => [field, "[redacted]"]));
  const { given, ...line } = lines[0] as Line & { readonly given?: object };
  assert.deepEqual(given, redacted);
  assert.deepEqual({ ...line, ...redacted }, line);
});

test.run();
