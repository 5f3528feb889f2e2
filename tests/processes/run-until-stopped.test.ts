import * as assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "uvu";
import { nodeArguments } from "../support/script.ts";

const FIXTURE = new URL("../fixtures/rejecting.ts", import.meta.url);

function start(kind: "outage" | "defect") {
  return spawn(process.execPath, [...nodeArguments(FIXTURE), kind], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

test("a cut connection without a statement stops no process; SIGTERM does, with exit status 0", async () => {
  const child = start("outage");
  const [said] = await once(child.stdout, "data");
  assert.equal(String(said), "still here\n");
  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "exit"), [0, null]);
});

test("a rejection that is a defect drains the process and ends it with exit status 1", async () => {
  const [status] = await once(start("defect"), "exit");
  assert.equal(status, 1);
});

test.run();
