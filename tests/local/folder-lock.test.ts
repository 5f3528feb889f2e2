import * as assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import { lockFolder } from "../../src/local/folder-lock.ts";
import { referTo } from "../../src/local/process-identity.ts";
import { temporaryFolder } from "../support/folder.ts";
import { NODE_FLAGS, scriptOf } from "../support/script.ts";

const folder = temporaryFolder("folder-lock");
const file = join(folder, "server.lock");
/** More than enough for two of four to meet within the microseconds in which they could. */
const ROUNDS = 150;

test.after.each(() => rmSync(file, { force: true }));
test.after(() => rmSync(folder, { recursive: true }));

/** A reference to a process that has ended. */
async function deadProcess() {
  const child = spawn("sleep", ["60"]);
  await once(child, "spawn");
  const reference = referTo(child.pid ?? 0);
  child.kill("SIGKILL");
  await once(child, "exit");
  return reference;
}

test("a folder is locked once, and free again when released", () => {
  const lock = lockFolder(folder);
  assert.equal(lock.predecessor, undefined);
  assert.throws(() => lockFolder(folder), {
    message: `${folder} is in use by process ${process.pid}`,
  });
  lock.release();
  assert.equal(existsSync(file), false);
  lockFolder(folder).release();
});

test("a refusal names the owner, not another start that looks at the lock just now", () => {
  const lock = lockFolder(folder);
  writeFileSync(`${file}.claim`, JSON.stringify({ owner: referTo(process.ppid) }));
  assert.throws(() => lockFolder(folder), {
    message: `${folder} is in use by process ${process.pid}`,
  });
  rmSync(`${file}.claim`);
  lock.release();
});

test("a lock whose owner is dead is taken over with the server it left", async () => {
  const owner = await deadProcess();
  const server = referTo(process.pid);
  writeFileSync(file, JSON.stringify({ owner, server }));
  const lock = lockFolder(folder);
  assert.deepEqual(lock.predecessor, server);
  const entry = JSON.parse(readFileSync(file, "utf8"));
  // If we are killed before it has ended, the next process must know it too.
  assert.deepEqual(entry, { owner: referTo(process.pid), server });
});

test("a process that has the number of a dead owner does not hold its lock", () => {
  const identity = "another boot/1";
  writeFileSync(file, JSON.stringify({ owner: { pid: process.pid, identity } }));
  assert.equal(lockFolder(folder).predecessor, undefined);
});

test("a lock file that holds no lock is replaced", () => {
  for (const text of ['{"owner":', "null", "{}", '{"owner":null}']) {
    writeFileSync(file, text);
    lockFolder(folder).release();
  }
});

test("of several processes that start at once one gets the folder", async () => {
  const owner = await deadProcess();
  const module = scriptOf(join(import.meta.dirname, "../../src/local/folder-lock.ts"));
  const script = `
    import { createInterface } from "node:readline";
    import { lockFolder } from ${JSON.stringify(module)};
    createInterface({ input: process.stdin }).on("line", (folder) => {
      try { lockFolder(folder); console.log("mine"); }
      catch (error) { console.log(error.message); }
    });
    console.log("ready");
  `;
  const args = [...NODE_FLAGS, "--input-type=module", "--eval", script];
  const racers = Array.from({ length: 4 }, () => spawn(process.execPath, args));
  const heard = () => Promise.all(racers.map((racer) => once(racer.stdout, "data")));
  try {
    await heard();
    for (let round = 0; round < ROUNDS; round += 1) {
      const raced = join(folder, String(round));
      mkdirSync(raced);
      writeFileSync(join(raced, "server.lock"), JSON.stringify({ owner }));
      // One that was taking it over was killed, too.
      writeFileSync(join(raced, "server.lock.claim"), JSON.stringify({ owner }));
      const answers = heard();
      for (const racer of racers) racer.stdin.write(`${raced}\n`);
      const found = (await answers).map(([line]) => String(line).trim());
      assert.equal(found.filter((line) => line === "mine").length, 1, found.join("\n"));
      assert.equal(found.filter((line) => line.includes("is in use by process")).length, 3);
      assert.deepEqual(readdirSync(raced), ["server.lock"]);
    }
  } finally {
    for (const racer of racers) racer.kill("SIGKILL");
  }
});

test("a claim that its holder left behind, killed, holds no start up", async () => {
  const owner = await deadProcess();
  writeFileSync(file, JSON.stringify({ owner }));
  writeFileSync(`${file}.claim`, JSON.stringify({ owner }));
  lockFolder(folder).release();
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith("server.lock")),
    [],
  );
});

test.run();
