/**
 * Goal: a Redis snapshot may be missing, stale, ahead, foreign or rubbish, and no star is ever
 * decided wrongly because of it. Method: put such snapshots there by hand, on a real Redis.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { dayOf } from "../../actors/day.ts";
import { createSnapshots, redisKey, type Snapshots } from "../../src/hosting/snapshots.ts";
import { silentLogger } from "../../src/log.ts";
import { closeRedis, openRedis, type Redis } from "../../src/store/redis.ts";
import { bodyOf, type Engine, seedDirectory, startEngine, verdictOf } from "../support/engine.ts";
import { testDatabase } from "../support/postgres.ts";
import { testRedis } from "../support/redis.ts";

interface Context {
  url: string;
  redis: Redis;
  snapshots: Snapshots;
  /** A process that has seen nothing yet. */
  newProcess: () => Promise<Engine>;
  close: () => Promise<void>;
}

const test = suite<Context>("snapshots");

test.before.each(async (context) => {
  const [database, server] = await Promise.all([testDatabase({ migrated: true }), testRedis()]);
  await seedDirectory(database.sql as never);
  const redis = openRedis(server.url, silentLogger);
  if (!redis.isReady) await new Promise((resolve) => redis.once("ready", resolve));
  const snapshots = createSnapshots(redis);
  const engines: Engine[] = [];
  Object.assign(context, {
    url: database.url,
    redis,
    snapshots,
    newProcess: async () => {
      const engine = await startEngine(database.url, snapshots);
      engines.push(engine);
      return engine;
    },
    close: async () => {
      await Promise.all(engines.map((engine) => engine.close()));
      await closeRedis(redis);
      await Promise.all([server.close(), database.close()]);
    },
  });
});
test.after.each((context) => context.close());

const WALLET = "0.0.700";

async function today({ clock }: Engine): Promise<{ wallet: string; day: string }> {
  return { wallet: WALLET, day: dayOf(clock.now()) };
}

/** Casts so many stars in a process of their own, and waits for the snapshot. */
async function castBefore(c: Context, stars: number): Promise<string> {
  const engine = await c.newProcess();
  for (let n = 0; n < stars; n += 1) await engine.cast(WALLET, `token/0.0.${9001 + n}`);
  await c.snapshots.settled();
  return redisKey(await today(engine));
}

test("an actor at rest comes back from its snapshot, in less than 420 bytes for five stars", async (c) => {
  const key = await castBefore(c, 5);
  const text = (await c.redis.get(key)) ?? "";
  assert.ok(text.startsWith("5|"));
  assert.ok(text.length <= 420, `${text.length} bytes`);
  assert.ok((await c.redis.pTTL(key)) > 86_400_000, "kept until a day after the day");
  const next = await c.newProcess();
  assert.equal(verdictOf(await next.cast(WALLET, "token/0.0.9006")), "ALLOWANCE_EXHAUSTED");
});

test("a missing snapshot is no loss", async (c) => {
  const key = await castBefore(c, 3);
  await c.redis.del(key);
  const next = await c.newProcess();
  assert.equal(verdictOf(await next.cast(WALLET, "token/0.0.9003")), "ALREADY_STARRED");
  assert.equal(bodyOf(await next.cast(WALLET, "token/0.0.9004")).allowance.used, 4);
});

test("a stale snapshot lets no sixth star through and refuses no fifth", async (c) => {
  const key = await castBefore(c, 2);
  const old = await c.redis.get(key);
  const second = await c.newProcess();
  for (let n = 2; n < 4; n += 1) await second.cast(WALLET, `token/0.0.${9001 + n}`);
  await c.snapshots.settled();
  await c.redis.set(key, old ?? "");
  const third = await c.newProcess();
  assert.equal(verdictOf(await third.cast(WALLET, "token/0.0.9004")), "ALREADY_STARRED");
  assert.equal(bodyOf(await third.cast(WALLET, "token/0.0.9005")).allowance.used, 5);
  assert.equal(verdictOf(await third.cast(WALLET, "token/0.0.9006")), "ALLOWANCE_EXHAUSTED");
});

test("a snapshot ahead of the journal invents no star: nothing is refused for it, no slot is skipped", async (c) => {
  const key = await castBefore(c, 4);
  const ahead = await c.redis.get(key);
  // The journal lost its last stars, as after a failover to a standby that missed them.
  const [database] = [await testDatabase({ migrated: true })];
  await seedDirectory(database.sql as never);
  const engine = await startEngine(database.url, c.snapshots);
  await c.redis.set(key, ahead ?? "");
  assert.equal(verdictOf(await engine.cast(WALLET, "token/0.0.9001")), "accepted");
  const slots = await engine.sql<{ slot: number }[]>`select slot from star order by slot`;
  assert.deepEqual(
    slots.map(({ slot }) => slot),
    [1],
  );
  await engine.close();
  await database.close();
});

const odd: Readonly<Record<string, (good: string) => string>> = {
  truncated: (good) => good.slice(0, -20),
  empty: () => "",
  "no JSON": () => "3|not json",
  "of another machine": (good) => good.replace('"wallet-day"', '"event-day"'),
  "of another schema": (good) => good.replace('"s":1', '"s":99'),
  "of another wallet": (good) => good.replace(WALLET, "0.0.701"),
  "of another day": (good) => good.replace(/"d":"[^"]*"/, '"d":"2020-01-01"'),
  "with a version that is not its own": (good) => good.replace(/^\d+/, "9"),
  "with an unknown state": (good) => good.replace('"voting"', '"dreaming"'),
};

for (const [name, spoil] of Object.entries(odd)) {
  test(`a snapshot that is ${name} is thrown away and folded again`, async (c) => {
    const key = await castBefore(c, 2);
    await c.redis.set(key, spoil((await c.redis.get(key)) ?? ""));
    const next = await c.newProcess();
    assert.equal(verdictOf(await next.cast(WALLET, "token/0.0.9002")), "ALREADY_STARRED");
    assert.equal(bodyOf(await next.cast(WALLET, "token/0.0.9003")).allowance.used, 3);
  });
}

test("a key of the wrong type is no snapshot either", async (c) => {
  const key = await castBefore(c, 1);
  await c.redis.del(key);
  await c.redis.lPush(key, "x");
  const next = await c.newProcess();
  assert.equal(verdictOf(await next.cast(WALLET, "token/0.0.9001")), "ALREADY_STARRED");
});

test("an older snapshot never replaces a newer one", async (c) => {
  const key = await castBefore(c, 3);
  const engine = await c.newProcess();
  const state = await c.snapshots.read(await today(engine));
  assert.ok(state);
  const older = { ...state, context: { ...state.context, stars: state.context.stars.slice(0, 1) } };
  c.snapshots.write(await today(engine), older);
  await c.snapshots.settled();
  assert.ok((await c.redis.get(key))?.startsWith("3|"));
});

test("stars go on without Redis", async (c) => {
  const engine = await c.newProcess();
  assert.equal(verdictOf(await engine.cast(WALLET, "token/0.0.9001")), "accepted");
  c.redis.destroy();
  assert.equal(verdictOf(await engine.cast(WALLET, "token/0.0.9002")), "accepted");
  const next = await c.newProcess();
  assert.equal(verdictOf(await next.cast(WALLET, "token/0.0.9002")), "ALREADY_STARRED");
});

test.run();
