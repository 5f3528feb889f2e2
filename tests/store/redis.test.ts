/**
 * Redis may be away: nothing hangs, nothing throws unexpectedly, and it is used again when it is
 * back.
 */
import * as assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { test } from "uvu";
import { silentLogger } from "../../src/log.ts";
import {
  closeRedis,
  openRedis,
  type Redis,
  redisScript,
  runCommand,
} from "../../src/store/redis.ts";
import { patiently } from "../support/patiently.ts";
import { redisPair, testRedis } from "../support/redis.ts";
import { SLACK_MS } from "../support/slack.ts";

const ready = (redis: Redis) => new Promise((resolve) => redis.once("ready", resolve));
const msOf = async (work: Promise<unknown>): Promise<number> => {
  const started = performance.now();
  await work.catch(() => undefined);
  return performance.now() - started;
};

test("while the server is away, commands fail at once and nothing else happens", async () => {
  const redis = openRedis("redis://127.0.0.1:1", silentLogger);
  await assert.rejects(runCommand(redis.get("x"), 250), { code: "UNAVAILABLE" });
  assert.ok((await msOf(runCommand(redis.get("x"), 60_000))) < SLACK_MS);
  await closeRedis(redis);
  await closeRedis(redis);
});

test("a server that accepts and never answers costs the caller's deadline, no more", async () => {
  const sockets: Socket[] = [];
  const mute = createServer((socket) => void sockets.push(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  const address = mute.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const redis = openRedis(`redis://127.0.0.1:${port}`, silentLogger);
  const waited = await msOf(runCommand(redis.get("x"), 250));
  assert.ok(waited < 250 + SLACK_MS, `${waited} ms`);
  await closeRedis(redis);
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => mute.close(resolve));
});

test("a script runs in one round trip, and again after the server forgot it", async () => {
  const server = await testRedis({ own: true });
  const redis = openRedis(server.url, silentLogger);
  await ready(redis);
  const add = redisScript("return redis.call('incrby', KEYS[1], ARGV[1])");
  assert.equal(await add(redis, ["n"], ["2"]), 2);
  assert.equal(await add(redis, ["n"], ["3"]), 5);
  await redis.sendCommand(["SCRIPT", "FLUSH"]);
  assert.equal(await add(redis, ["n"], ["1"]), 6);
  await assert.rejects(redisScript("return redis.call('incr', KEYS[1], 'x')")(redis, ["n"], []));
  await closeRedis(redis);
  await server.close();
});

test("a cut connection is opened again by itself", async () => {
  const server = await testRedis({ own: true });
  const [redis, other] = [openRedis(server.url, silentLogger), openRedis(server.url, silentLogger)];
  await Promise.all([ready(redis), ready(other)]);
  const again = ready(redis);
  await other.sendCommand(["CLIENT", "KILL", "ID", String(await redis.clientId())]);
  await again;
  assert.equal(await redis.ping(), "PONG");
  await closeRedis(redis);
  await closeRedis(other);
  await server.close();
});

test("a silent connection is given up within seconds and opened again", async () => {
  const server = await testRedis({ own: true });
  const [redis, other] = [openRedis(server.url, silentLogger), openRedis(server.url, silentLogger)];
  await Promise.all([ready(redis), ready(other)]);
  const before = await redis.clientId();
  const again = ready(redis);
  await other.sendCommand(["CLIENT", "PAUSE", "6000", "ALL"]);
  await again;
  assert.notEqual(await redis.clientId(), before);
  await closeRedis(redis);
  await closeRedis(other);
  await server.close();
});

test("a primary that became a replica is left for the server that its address leads to", async () => {
  const pair = await redisPair();
  const redis = openRedis(pair.url, silentLogger);
  await ready(redis);
  await redis.set("x", "1");
  await pair.failOver();
  await assert.rejects(redis.set("x", "2"), /READONLY/);
  await patiently(() =>
    runCommand(
      delay(50).then(() => redis.set("x", "3")),
      1_000,
    ),
  );
  await closeRedis(redis);
  await pair.close();
});

test("a server that stays a replica is away once, however often it is asked again", async () => {
  const server = await testRedis({ own: true });
  const said: string[] = [];
  const log = pino({}, { write: (line) => void said.push(JSON.parse(line).msg) });
  const redis = openRedis(server.url, log);
  await ready(redis);
  await redis.sendCommand(["REPLICAOF", "127.0.0.1", "1"]);
  await ready(redis);
  await ready(redis);
  assert.deepEqual(said, ["redis is away"]);
  await redis.sendCommand(["REPLICAOF", "NO", "ONE"]);
  while (said.length < 2) await delay(50);
  assert.deepEqual(said, ["redis is away", "redis is back"]);
  await closeRedis(redis);
  await server.close();
});

test.run();
