import * as assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import { lockFolder } from "../../src/local/folder-lock.ts";
import { referTo } from "../../src/local/process-identity.ts";
import { temporaryFolder } from "../support/folder.ts";
import { NODE_FLAGS, scriptOf } from "../support/script.ts";

const folder = temporaryFolder("folder-lock");
const file = join(folder, "server.lock");

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
  writeFileSync(file, '{"owner":');
  lockFolder(folder).release();
});

test("of several processes that start at once one gets the folder", async () => {
  const owner = await deadProcess();
  writeFileSync(file, JSON.stringify({ owner }));
  const module = scriptOf(join(import.meta.dirname, "../../src/local/folder-lock.ts"));
  const script = `
    import { lockFolder } from ${JSON.stringify(module)};
    process.stdin.once("data", () => {
      try { lockFolder(${JSON.stringify(folder)}); console.log("mine"); }
      catch (error) { console.log(error.message); }
    });
    console.log("ready");
  `;
  const args = [...NODE_FLAGS, "--input-type=module", "--eval", script];
  const racers = Array.from({ length: 4 }, () => spawn(process.execPath, args));
  await Promise.all(racers.map((racer) => once(racer.stdout, "data")));
  const answers = racers.map(async (racer) => String((await once(racer.stdout, "data"))[0]));
  for (const racer of racers) racer.stdin.write("go\n");
  const found = (await Promise.all(answers)).map((line) => line.trim());
  for (const racer of racers) racer.kill("SIGKILL");
  assert.equal(found.filter((line) => line === "mine").length, 1);
  assert.equal(found.filter((line) => line.includes("is in use by process")).length, 3);
});

test.run();
