import * as assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "uvu";
import { startProcess } from "../support/processes.ts";
import { nodeArguments } from "../support/script.ts";

const FIXTURE = new URL("../fixtures/rejecting.ts", import.meta.url);
const STARTING = new URL("../fixtures/starting.ts", import.meta.url);
/** Enough to start by, though nothing is there. */
const SETTINGS = {
  REDIS_URL: "redis://127.0.0.1:1",
  MIRROR_NODE_URL: "http://127.0.0.1:1",
  COLLECTION_A_ID: "0.0.1001",
  COLLECTION_A_KEY: "alpha",
  COLLECTION_B_ID: "0.0.1002",
  COLLECTION_B_KEY: "beta",
  HEDERA_OPERATOR_ID: "0.0.2",
  HEDERA_OPERATOR_KEY: "1".repeat(64),
  EVENT_VOTES_TOPIC_ID: "0.0.1003",
  ASSET_VOTES_TOPIC_ID: "0.0.1004",
  LOG_LEVEL: "error",
};

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

test("a signal while it starts stops it in order as soon as it is up, with exit status 0", async () => {
  const child = spawn(process.execPath, nodeArguments(STARTING), {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let said = "";
  child.stdout.on("data", (text) => {
    said += text;
  });
  await once(child.stdout, "data");
  child.kill("SIGTERM");
  // It is up when its standard input ends: by then the signal has come.
  setTimeout(() => child.stdin.end(), 300);
  assert.deepEqual(await once(child, "exit"), [0, null]);
  assert.equal(said, "starting\nclosed\n");
});

for (const moment of ["starting", "stopping"]) {
  test(`a Ctrl-C that npm hands on comes twice, while it is ${moment}: it stops in order, with exit status 0`, async () => {
    const child = spawn(process.execPath, [...nodeArguments(STARTING), `twice-${moment}`], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.on("data", (text) => {
      said += text;
    });
    await once(child.stdout, "data");
    if (moment === "stopping") child.kill("SIGINT");
    setTimeout(() => child.stdin.end(), 300);
    assert.deepEqual(await once(child, "exit"), [0, null]);
    assert.equal(said, "starting\nclosed\n");
  });
}

for (const moment of ["starting", "closing"]) {
  test(`a person who presses Ctrl-C again, and again, ends what is ${moment} at once, with exit status 1`, async () => {
    const mode = moment === "closing" ? ["slow-stopping"] : [];
    const child = spawn(process.execPath, [...nodeArguments(STARTING), ...mode], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    let said = "";
    let pressing: NodeJS.Timeout | undefined;
    child.stdout.on("data", (text) => {
      said += text;
      if (said.endsWith(`${moment}\n`)) pressing = setInterval(() => child.kill("SIGINT"), 300);
    });
    await once(child.stdout, "data");
    if (moment === "closing") {
      child.kill("SIGINT");
      child.stdin.end();
    }
    const ended = await once(child, "exit");
    clearInterval(pressing);
    assert.deepEqual(ended, [1, null]);
    assert.equal(said, moment === "closing" ? "starting\nclosing\n" : "starting\n");
  });
}

test("a start that fails after a signal has nothing to report; one that fails by itself says why in one line", async () => {
  for (const isAsked of [true, false]) {
    const child = spawn(process.execPath, [...nodeArguments(STARTING), "failing"]);
    let complaint = "";
    child.stderr.on("data", (text) => {
      complaint += text;
    });
    await once(child.stdout, "data");
    if (isAsked) child.kill("SIGINT");
    setTimeout(() => child.stdin.end(), 300);
    const [status] = await once(child, "close");
    const expected = isAsked ? [0, ""] : [1, "starboard: cannot start: as asked: and so it says\n"];
    assert.deepEqual([status, complaint], expected);
  }
});

for (const command of ["serve", "work"] as const) {
  test(`${command} ends with exit status 0 also by a signal while Postgres has not answered yet`, async () => {
    const silent = createServer().unref().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const child = startProcess(command, {
      ...SETTINGS,
      DATABASE_URL: `postgres://absent@127.0.0.1:${port}/none`,
    });
    await once(silent, "connection");
    assert.equal(await child.stop(), 0, child.log());
    silent.close();
  });
}

test.run();
