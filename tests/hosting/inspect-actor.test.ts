/**
 * Goal: everything a wallet or an event did can be rebuilt from the journal, and an edit anywhere
 * else shows. Method: real stars; then one projection row, one claim or one snapshot is changed
 * behind the service's back.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { dayOf } from "../../actors/day.ts";
import { type ActorName, formatActorName, parseActorName } from "../../src/hosting/actor-name.ts";
import { replayActor, type ShownActor, showActor } from "../../src/hosting/inspect-actor.ts";
import { listActors } from "../../src/hosting/list-actors.ts";
import {
  createMintSnapshots,
  type MintSnapshots,
  mintKey,
} from "../../src/hosting/mint-snapshots.ts";
import { createSnapshots, redisKey, type Snapshots } from "../../src/hosting/snapshots.ts";
import { silentLogger } from "../../src/log.ts";
import { closeRedis, openRedis, type Redis } from "../../src/store/redis.ts";
import { type Engine, seedDirectory, startEngine } from "../support/engine.ts";
import { testDatabase } from "../support/postgres.ts";
import { testRedis } from "../support/redis.ts";

interface Context {
  engine: Engine;
  redis: Redis;
  snapshots: Snapshots;
  mintSnapshots: MintSnapshots;
  day: string;
  close: () => Promise<void>;
}

const test = suite<Context>("actors, inspected");
const WALLET = "0.0.801";

test.before.each(async (context) => {
  const [database, server] = await Promise.all([testDatabase({ migrated: true }), testRedis()]);
  const redis = openRedis(server.url, silentLogger);
  if (!redis.isReady) await new Promise((resolve) => redis.once("ready", resolve));
  const snapshots = createSnapshots(redis);
  const mintSnapshots = createMintSnapshots(redis);
  const engine = await startEngine(database.url, snapshots, mintSnapshots);
  await seedDirectory(engine.sql);
  engine.holdings.set(WALLET, { collectionA: [1, 2], collectionB: [7] });
  engine.holdings.set("0.0.802", { collectionA: [2, 3], collectionB: [7, 8] });
  for (const target of ["event/meetup", "token/0.0.9001", "event/mint", "event/mint"]) {
    await engine.cast(WALLET, target);
  }
  for (const target of ["event/meetup", "event/mint"]) await engine.cast("0.0.802", target);
  await Promise.all([snapshots.settled(), mintSnapshots.settled()]);
  Object.assign(context, {
    engine,
    redis,
    snapshots,
    mintSnapshots,
    day: dayOf(engine.clock.now()),
    close: async () => {
      await engine.close();
      await closeRedis(redis);
      await Promise.all([server.close(), database.close()]);
    },
  });
});
test.after.each((context) => context.close());

function named(text: string): ActorName {
  const name = parseActorName(text);
  assert.ok(name, text);
  assert.equal(formatActorName(name), text);
  return name;
}

const show = (c: Context, text: string): Promise<ShownActor> =>
  showActor({ ...c, sql: c.engine.sql }, named(text));
const replay = (c: Context, text: string) => replayActor({ ...c, sql: c.engine.sql }, named(text));

test("an actor is shown by its public name: state, context, version, source", async (c) => {
  const wallet = await show(c, `wallet-day/${WALLET}/${c.day}`);
  assert.deepEqual([wallet.state, wallet.version, wallet.source], ["voting", 4, "snapshot"]);
  const event = await show(c, `event-day/meetup/${c.day}`);
  assert.deepEqual([event.state, event.version], ["counting", 2]);
  assert.deepEqual(event.context, {
    event: "meetup",
    day: c.day,
    weight: 8 + 7,
    stars: 2,
    counted: { A: { 1: WALLET, 2: WALLET, 3: "0.0.802" }, B: { 7: WALLET, 8: "0.0.802" } },
  });
  const mint = await show(c, "forever-mint/mint");
  assert.deepEqual([mint.state, mint.version], ["collecting", 3]);
  const unknown = await show(c, `wallet-day/0.0.5/${c.day}`);
  assert.deepEqual([unknown.state, unknown.version, unknown.source], ["fresh", 0, "journal"]);
});

test("what the journal makes equals what is live", async (c) => {
  for (const id of [
    `wallet-day/${WALLET}/${c.day}`,
    `event-day/meetup/${c.day}`,
    "forever-mint/mint",
  ]) {
    const { equal, differences } = await replay(c, id);
    assert.deepEqual([equal, differences], [true, []], id);
  }
});

test("an actor's history is the same after Redis lost everything and a restart", async (c) => {
  const id = `wallet-day/${WALLET}/${c.day}`;
  const before = await show(c, id);
  await c.redis.del(redisKey({ wallet: WALLET, day: c.day }));
  const after = await show(c, id);
  assert.equal(after.source, "journal");
  assert.deepEqual({ ...after, source: "snapshot" }, before);
});

test("an edited snapshot does not equal the journal", async (c) => {
  const key = redisKey({ wallet: WALLET, day: c.day });
  const text = (await c.redis.get(key)) ?? "";
  await c.redis.set(key, text.replace("token/0.0.9001", "token/0.0.9002"));
  const { equal, differences } = await replay(c, `wallet-day/${WALLET}/${c.day}`);
  assert.equal(equal, false);
  assert.equal(differences.length, 1);
});

test("a mint's snapshot grows star by star, and is the mint", async (c) => {
  const fromRedis = await show(c, "forever-mint/mint");
  assert.equal(fromRedis.source, "snapshot");
  await c.redis.del(mintKey("mint"));
  const fromClaims = await show(c, "forever-mint/mint");
  assert.deepEqual({ ...fromClaims, source: "snapshot" }, fromRedis);
  assert.equal(fromClaims.source, "projection");
  assert.equal((await show(c, "forever-mint/mint")).source, "snapshot", "written whole again");
});

test("a mint is the same for whoever asks the journal alone, and nothing is put in Redis for it", async (c) => {
  const fromRedis = await show(c, "forever-mint/mint");
  await c.redis.del(mintKey("mint"));
  const alone = { ...c, sql: c.engine.sql, snapshots: null, mintSnapshots: null };
  for (const mint of ["forever-mint/mint", "forever-mint/untouched"]) {
    const shown = await showActor(alone, named(mint));
    assert.equal(shown.source, "projection");
    if (mint === fromRedis.id) assert.deepEqual({ ...shown, source: "snapshot" }, fromRedis);
    else assert.deepEqual(shown, await show(c, mint));
  }
  assert.equal(await c.redis.exists(mintKey("mint")), 0);
  assert.equal((await replayActor(alone, named("forever-mint/mint"))).equal, true);
});

test("a mint's snapshot that missed a star, or is of another shape, is thrown away", async (c) => {
  await c.redis.hIncrBy(mintKey("mint"), "stars", -1);
  assert.equal((await show(c, "forever-mint/mint")).source, "projection");
  // The check may re-anchor a +5, which changes neither stars nor weight.
  await c.redis.hSet(mintKey("mint"), "release", 7);
  assert.equal((await show(c, "forever-mint/mint")).source, "projection");
  await c.redis.hSet(mintKey("mint"), "shape", "forever-mint 0");
  assert.equal((await show(c, "forever-mint/mint")).source, "projection");
  await c.redis.hSet(mintKey("mint"), "A/x", "rubbish");
  assert.equal((await show(c, "forever-mint/mint")).source, "projection");
});

test("a mint that is too large to be taken from Redis at once is shown from its claims", async (c) => {
  const fromRedis = await show(c, "forever-mint/mint");
  for (const [weight, source] of [
    [3_000, "snapshot"],
    [3_001, "projection"],
  ] as const) {
    await c.engine.sql`update event_total set weight = ${weight} where event_id = 'mint'`;
    await c.redis.hSet(mintKey("mint"), "weight", weight);
    const context = { ...(fromRedis.context as object), weight };
    assert.deepEqual(await show(c, "forever-mint/mint"), { ...fromRedis, context, source });
  }
});

test("an edited snapshot of a mint does not equal the journal", async (c) => {
  const value = (await c.redis.hGet(mintKey("mint"), "A/1")) ?? "";
  await c.redis.hSet(mintKey("mint"), "A/1", value.replace(/^\d+/, "999"));
  const { equal, differences } = await replay(c, "forever-mint/mint");
  assert.deepEqual([equal, differences.length], [false, 1]);
});

test("an edited total does not equal the journal", async (c) => {
  await c.engine.sql`update event_total set weight = weight + 1`;
  for (const id of [`event-day/meetup/${c.day}`, "forever-mint/mint"]) {
    assert.equal((await replay(c, id)).equal, false, id);
  }
});

test("a claim that no star made does not equal the journal", async (c) => {
  await c.engine.sql`
    insert into serial_claim (event_id, day, collection, serial, wallet, star_id)
    select 'meetup', ${c.day}, 'A', 99, 803, id from star limit 1`;
  const { equal, differences } = await replay(c, `event-day/meetup/${c.day}`);
  assert.equal(equal, false);
  assert.match(
    differences[0] ?? "",
    /^A 99: the journal counts it for nobody, the claims for 0\.0\.803$/,
  );
});

test("actors are listed newest first, by type and by text", async (c) => {
  const all = await listActors(c.engine.sql, { limit: 50 });
  assert.deepEqual(
    new Set(all.map(({ id }) => id)),
    new Set([
      `wallet-day/${WALLET}/${c.day}`,
      `wallet-day/0.0.802/${c.day}`,
      `event-day/meetup/${c.day}`,
      "forever-mint/mint",
    ]),
  );
  const mints = await listActors(c.engine.sql, { type: "forever-mint", limit: 50 });
  assert.deepEqual(
    mints.map(({ id, version }) => [id, version]),
    [["forever-mint/mint", 3]],
  );
  const found = await listActors(c.engine.sql, { q: "0.0.802", limit: 50 });
  assert.deepEqual(
    found.map(({ id }) => id),
    [`wallet-day/0.0.802/${c.day}`],
  );
  assert.deepEqual(await listActors(c.engine.sql, { q: "%", limit: 50 }), []);
});

test("what names no actor is none", () => {
  for (const text of [
    "",
    "wallet-day",
    "wallet-day/0.0.1",
    "wallet-day/1/2026-11-20",
    "wallet-day/0.0.1/2026-02-30",
    "event-day/a b/2026-11-20",
    "forever-mint/",
    "forever-mint/a/b",
    "token/0.0.1",
  ]) {
    assert.equal(parseActorName(text), undefined, text);
  }
});

test.run();
