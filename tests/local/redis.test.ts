import * as assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "redis";
import { test } from "uvu";
import { isRunning, processIdentity, referTo } from "../../src/local/process-identity.ts";
import { type LocalRedis, type RedisOptions, startRedis } from "../../src/local/redis.ts";
import { temporaryFolder } from "../support/folder.ts";
import { goneWithin, holdServer, killHolders } from "../support/server-holder.ts";

const dataDir = temporaryFolder("local-redis");
const ENDS_WITHIN_MS = 10_000;
const installed = spawnSync("redis-server", ["--version"]).status === 0;
/** What needs Redis' own file of data is skipped where no redis-server is installed. */
const testInstalled = installed ? test : test.skip;

const started: LocalRedis[] = [];

/** Closed after the test, whatever comes of it. */
async function start(options: Partial<RedisOptions> = {}): Promise<LocalRedis> {
  const server = await startRedis({ dataDir, ...options });
  started.push(server);
  return server;
}

/** What a server that is being started says to a stranger, or how it did not come up. */
async function answerWhenUp(port: number): Promise<string> {
  const deadline = performance.now() + 10_000;
  let answer = "";
  while (!answer.startsWith("-NOAUTH") && performance.now() < deadline) {
    await delay(20);
    answer = await answerTo("PING", port);
  }
  return answer;
}

test.after.each(async () => {
  await killHolders();
  await Promise.all(started.splice(0).map((server) => server.close()));
});
test.after(() => rmSync(dataDir, { recursive: true, force: true }));

async function command(url: string, ...words: string[]): Promise<unknown> {
  const client = createClient({ url, disableOfflineQueue: true });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await client.sendCommand(words);
  } finally {
    client.destroy();
  }
}

/** What is answered there to one line, or how the connection failed. */
async function answerTo(line: string, port: number, host = "127.0.0.1"): Promise<string> {
  const socket = connect({ host, port, timeout: 1_000 }).setEncoding("utf8");
  for (const event of ["timeout", "end"]) {
    socket.on(event, () => socket.destroy(new Error("no answer")));
  }
  socket.write(`${line}\r\n`);
  try {
    const [text] = (await once(socket, "data")) as [string];
    return text;
  } catch (error) {
    return String(error);
  } finally {
    socket.destroy();
  }
}

testInstalled("redis-server keeps its data and url from one start to the next", async () => {
  const first = await start();
  assert.equal(first.kind, "redis-server");
  await command(first.url, "SET", "kept", "1");
  await first.close();
  const second = await start();
  assert.equal(second.url, first.url);
  assert.equal(await command(second.url, "GET", "kept"), "1");
  await second.close();
});

testInstalled("redis-server evicts nothing and writes every change to its file", async () => {
  const server = await start();
  const names = ["maxmemory-policy", "appendonly", "bind"];
  const found = await command(server.url, "CONFIG", "GET", ...names);
  await server.close();
  assert.deepEqual(
    { ...(found as object) },
    { "maxmemory-policy": "noeviction", appendonly: "yes", bind: "127.0.0.1" },
  );
});

testInstalled(
  "redis-server is found in a relative folder of PATH; an empty one is none",
  async () => {
    const [program = ""] = spawnSync("which", ["redis-server"], { encoding: "utf8" }).stdout.split(
      "\n",
    );
    const before = process.cwd();
    const bin = temporaryFolder("local-redis-bin");
    symlinkSync(program, join(bin, "redis-server"));
    process.chdir(bin);
    try {
      for (const [path, kind] of [
        [".", "redis-server"],
        ["/nowhere:./:", "redis-server"],
        ["", "js-redis-server"],
      ] as const) {
        const server = await start({ path });
        assert.equal(server.kind, kind);
        await server.close();
      }
    } finally {
      process.chdir(before);
      rmSync(bin, { recursive: true });
    }
  },
);

for (const kind of ["redis-server", "js-redis-server"] as const) {
  const path = kind === "redis-server" ? undefined : "";
  const testKind = kind === "redis-server" ? testInstalled : test;

  testKind(`${kind} answers SET, GET and EVAL`, async () => {
    const server = await start({ path });
    assert.equal(server.kind, kind);
    await command(server.url, "SET", "a", "41");
    assert.equal(await command(server.url, "GET", "a"), "41");
    const script = "return redis.call('INCR', KEYS[1])";
    assert.equal(await command(server.url, "EVAL", script, "1", "a"), 42);
    await server.close();
  });

  testKind(`${kind} wants the password and listens on 127.0.0.1 alone`, async () => {
    const server = await start({ path });
    const stranger = await answerTo("PING", server.port);
    const refused = await answerTo("AUTH wrong", server.port);
    const elsewhere = await answerTo("PING", server.port, "127.0.0.2");
    await server.close();
    assert.match(stranger, /^-NOAUTH/);
    assert.match(refused, /^-WRONGPASS/);
    assert.match(elsewhere, /^Error/);
    assert.equal(statSync(join(dataDir, "password")).mode & 0o777, 0o600);
  });

  testKind(`${kind} leaves no process behind when closed`, async () => {
    const server = await start({ path });
    const { pid } = referTo(server.pid());
    await server.close();
    assert.equal(processIdentity(pid), undefined);
  });

  testKind(`${kind} is started again on the same port when it is killed`, async () => {
    const server = await start({ path });
    const killed = server.pid();
    process.kill(killed, "SIGKILL");
    assert.match(await answerWhenUp(server.port), /^-NOAUTH/);
    assert.notEqual(server.pid(), killed);
    await server.close();
  });
}

test("a server that is started again while its lock cannot be written ends with close", async () => {
  const server = await start();
  // Stands for a full disk.
  const draft = join(dataDir, `server.lock.${process.pid}`);
  mkdirSync(draft);
  process.kill(server.pid(), "SIGKILL");
  const answer = await answerWhenUp(server.port);
  // Long enough for another one to be started beside it.
  await delay(1_000);
  rmdirSync(draft);
  await server.close();
  assert.match(answer, /^-NOAUTH/);
  assert.match(await answerTo("PING", server.port), /^Error/);
});

testInstalled("Ctrl-C leaves Redis up until its holder has drained", async () => {
  const holder = await holdServer("redis", dataDir);
  await holder.interrupt();
  assert.equal(await command(holder.url, "SET", "drained", "1"), "OK");
  assert.equal(await holder.finish(), 0);
  assert.equal(processIdentity(holder.pid), undefined);
});

testInstalled("when its holder is killed Redis ends by itself and loses nothing", async () => {
  const holder = await holdServer("redis", dataDir);
  await command(holder.url, "SET", "last", "1");
  await holder.kill();
  assert.equal(await goneWithin(holder.pid, ENDS_WITHIN_MS), true);
  const server = await start();
  assert.equal(await command(server.url, "GET", "last"), "1");
  await server.close();
});

testInstalled("a Redis left running is stopped before the next one starts", async () => {
  const holder = await holdServer("redis", dataDir);
  const orphan = referTo(holder.pid);
  await holder.kill({ guards: true });
  assert.equal(isRunning(orphan), true);
  const server = await start();
  assert.equal(isRunning(orphan), false);
  assert.equal(await command(server.url, "GET", "last"), "1");
  await server.close();
});

test.run();
