/**
 * Goal: a wallet's day comes back from its Redis snapshot, and a snapshot that is missing, stale,
 * ahead, foreign, forged or rubbish decides nothing. Method: put such snapshots there by hand, on a
 * real Redis, and let a process that has seen nothing decide.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { dayOf } from "../../actors/day.ts";
import { createSnapshots, type Snapshots, snapshotKey } from "../../src/hosting/snapshots.ts";
import { silentLogger } from "../../src/log.ts";
import { closeRedis, openRedis, type Redis } from "../../src/store/redis.ts";
import { bodyOf, type Engine, seedDirectory, startEngine, verdictOf } from "../support/engine.ts";
import { testDatabase } from "../support/postgres.ts";
import { testRedis } from "../support/redis.ts";
import { SLACK_MS } from "../support/slack.ts";

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
  const snapshots = createSnapshots(redis, SLACK_MS);
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

const keyOf = ({ clock }: Engine): string => snapshotKey(dayOf(clock.now()));

/** Casts so many stars in a process of their own, and waits for the snapshot. */
async function castBefore(c: Context, stars: number): Promise<string> {
  const engine = await c.newProcess();
  for (let n = 0; n < stars; n += 1) await engine.cast(WALLET, `token/0.0.${9001 + n}`);
  await c.snapshots.settled();
  return keyOf(engine);
}

/** Rewrites the wallet's snapshot. */
async function spoil(c: Context, key: string, change: (good: string) => string): Promise<void> {
  const good = (await c.redis.hGet(key, WALLET)) ?? "";
  const spoilt = change(good);
  assert.notEqual(spoilt, good, "nothing was changed");
  await c.redis.hSet(key, WALLET, spoilt);
}

test("another process decides from the snapshot, after a restart too; once in memory, from there", async (c) => {
  const key = await castBefore(c, 3);
  const text = (await c.redis.hGet(key, WALLET)) ?? "";
  assert.ok(text.length <= 84 * 3 + 40, `${text.length} bytes`);
  assert.ok((await c.redis.pTTL(key)) > 86_400_000, "kept until a day after the day");
  const next = await c.newProcess();
  assert.equal(verdictOf(await next.cast(WALLET, "token/0.0.9004")), "accepted");
  assert.equal(verdictOf(await next.cast(WALLET, "token/0.0.9005")), "accepted");
  assert.equal(verdictOf(await next.cast(WALLET, "token/0.0.9006")), "ALLOWANCE_EXHAUSTED");
  assert.deepEqual(next.opened, ["snapshot", "memory", "memory"]);
});

test("a first star needs no snapshot: the journal says that there is nothing yet", async (c) => {
  const engine = await c.newProcess();
  await engine.cast(WALLET, "token/0.0.9001");
  assert.deepEqual(engine.opened, ["journal"]);
});

test("a missing snapshot is no loss", async (c) => {
  const key = await castBefore(c, 3);
  await c.redis.del(key);
  const next = await c.newProcess();
  assert.equal(verdictOf(await next.cast(WALLET, "token/0.0.9003")), "ALREADY_STARRED");
  assert.equal(bodyOf(await next.cast(WALLET, "token/0.0.9004")).allowance.used, 4);
  assert.deepEqual(next.opened, ["journal", "memory"]);
});

test("a stale snapshot lets no sixth star through and refuses no fifth (A11 redis-stale)", async (c) => {
  const key = await castBefore(c, 2);
  const old = await c.redis.hGet(key, WALLET);
  const second = await c.newProcess();
  for (let n = 2; n < 4; n += 1) await second.cast(WALLET, `token/0.0.${9001 + n}`);
  await c.snapshots.settled();
  await c.redis.hSet(key, WALLET, old ?? "");
  const third = await c.newProcess();
  assert.equal(verdictOf(await third.cast(WALLET, "token/0.0.9004")), "ALREADY_STARRED");
  assert.equal(bodyOf(await third.cast(WALLET, "token/0.0.9005")).allowance.used, 5);
  assert.equal(verdictOf(await third.cast(WALLET, "token/0.0.9006")), "ALLOWANCE_EXHAUSTED");
  assert.deepEqual(third.opened, ["journal", "memory", "memory"]);
});

test("a snapshot ahead of the journal invents no star: nothing is refused for it, no slot is skipped (A6 pg-failover-lossy, A11 redis-future)", async (c) => {
  const key = await castBefore(c, 4);
  const ahead = await c.redis.hGet(key, WALLET);
  // The journal lost its last stars, as after a failover to a standby that missed them.
  const database = await testDatabase({ migrated: true });
  await seedDirectory(database.sql as never);
  const engine = await startEngine(database.url, c.snapshots);
  await c.redis.hSet(key, WALLET, ahead ?? "");
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
  "no JSON": () => "not json",
  "of another schema": (good) => good.replace("[2,", "[99,"),
  "of other rules": (good) => good.replace("[2,1,", "[2,2,"),
  "of another wallet": (good) => good.replace(WALLET, "0.0.701"),
  "a star short": (good) => good.replace(/\[\["[^\]]+\],/, "["),
  "with a star too many": (good) => good.replace(/(\["[^\]]+\])\]\]/, "$1,$1]]"),
  "with a star of no instant": (good) => good.replace(/\d{13}/, "9000000000000000"),
  "with a star of another day": (good) => good.replace(/\d{13}/, "1"),
  "dated otherwise": (good) => good.replace(/\d{13}\]\]\]/, "1]]]"),
  "with what is no star's id": (good) => good.replace(/"[0-9a-f]{8}-/, '"'),
};

for (const [name, change] of Object.entries(odd)) {
  test(`a snapshot that is ${name} is thrown away and folded again (A11 redis-future, A24 machine-upgrade)`, async (c) => {
    const key = await castBefore(c, 2);
    await spoil(c, key, change);
    const next = await c.newProcess();
    assert.equal(verdictOf(await next.cast(WALLET, "token/0.0.9002")), "ALREADY_STARRED");
    assert.equal(bodyOf(await next.cast(WALLET, "token/0.0.9003")).allowance.used, 3);
    assert.deepEqual(next.opened, ["journal", "memory"]);
  });
}

test("a forged snapshot at the journal's version refuses no star that the journal does not", async (c) => {
  const key = await castBefore(c, 2);
  await spoil(c, key, (good) => good.replace("token/0.0.9001", "token/0.0.9030"));
  const next = await c.newProcess();
  assert.equal(verdictOf(await next.cast(WALLET, "token/0.0.9030")), "accepted");
  assert.deepEqual([next.opened, next.contradictions], [["snapshot"], []]);
});

test("a forged snapshot at the journal's version accepts no star that the journal does not", async (c) => {
  const key = await castBefore(c, 2);
  await spoil(c, key, (good) => good.replace("token/0.0.9001", "token/0.0.9030"));
  const next = await c.newProcess();
  assert.equal(verdictOf(await next.cast(WALLET, "token/0.0.9001")), "ALREADY_STARRED");
  assert.deepEqual([next.opened, next.contradictions], [["snapshot"], []]);
});

test("a key of the wrong type is no snapshot either", async (c) => {
  const key = await castBefore(c, 1);
  await c.redis.del(key);
  await c.redis.lPush(key, "x");
  const next = await c.newProcess();
  assert.equal(verdictOf(await next.cast(WALLET, "token/0.0.9001")), "ALREADY_STARRED");
});

test("a pass granted or taken back counts at once, whatever the snapshot was made under", async (c) => {
  await castBefore(c, 5);
  const next = await c.newProcess();
  await next.sql`insert into season (id, name, starts_at, ends_at) values (gen_random_uuid(), 'S', 0, 4102444800000)`;
  await next.sql`insert into premium_pass (wallet, season_id, granted_at) select 700, id, 0 from season`;
  assert.equal(bodyOf(await next.cast(WALLET, "token/0.0.9006")).allowance.limit, 20);
  await next.sql`delete from premium_pass`;
  const refused = await next.cast(WALLET, "token/0.0.9007");
  assert.deepEqual(refused.kind === "refused" && refused.decision, {
    type: "refused",
    code: "ALLOWANCE_EXHAUSTED",
    limit: 5,
    used: 6,
  });
  assert.deepEqual(next.opened, ["snapshot", "memory"]);
});

test("stars go on without Redis (A11 redis-kill-20s)", async (c) => {
  const engine = await c.newProcess();
  assert.equal(verdictOf(await engine.cast(WALLET, "token/0.0.9001")), "accepted");
  c.redis.destroy();
  assert.equal(verdictOf(await engine.cast(WALLET, "token/0.0.9002")), "accepted");
  const next = await c.newProcess();
  assert.equal(verdictOf(await next.cast(WALLET, "token/0.0.9002")), "ALREADY_STARRED");
});

test.run();
