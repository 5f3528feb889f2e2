/**
 * Goal: each accepted star is offered to the queue `rewards` by id, at least once, whichever part dies
 * in between. Method: the real relay, Postgres and Redis; stars are cast by the real engine and
 * jobs read as another feature would, by BullMQ with nothing but the queue's name.
 */
import * as assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { createNodeRedisClient, Queue, Worker } from "bullmq";
import { pino } from "pino";
import { createClient } from "redis";
import { suite } from "uvu";
import { dayOf } from "../../actors/day.ts";
import { startRedis } from "../../src/local/redis.ts";
import { silentLogger } from "../../src/log.ts";
import type { Service } from "../../src/service.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import { reofferDay, startRewards } from "../../src/upkeep/offer-rewards.ts";
import { pendingRewards } from "../../src/upkeep/reward-hand-off.ts";
import { openRewardsQueue } from "../../src/upkeep/rewards-queue.ts";
import { createTroubles } from "../../src/upkeep/troubles.ts";
import { bodyOf, type Engine, seedDirectory, startEngine } from "../support/engine.ts";
import { temporaryFolder } from "../support/folder.ts";
import { patiently } from "../support/patiently.ts";
import { testDatabase } from "../support/postgres.ts";
import { until } from "../support/processes.ts";
import { type TestRedis, testRedis } from "../support/redis.ts";
import { nodeArguments } from "../support/script.ts";
import { starboard } from "../support/starboard.ts";

interface Stage {
  readonly url: string;
  readonly sql: Sql;
  readonly engine: Engine;
  readonly stops: (() => Promise<unknown>)[];
}

const test = suite<Stage>("rewards");
test.before.each(async (stage) => {
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 4, role: "starboard_app" });
  await seedDirectory(sql);
  const engine = await startEngine(database.url);
  const stops = [() => engine.close(), () => sql.end({ timeout: 1 }), () => database.close()];
  Object.assign(stage, { url: database.url, sql, engine, stops });
});
test.after.each(async ({ stops }) => {
  for (const stop of stops) await stop();
});

let wallets = 1_000;
/** Casts so many stars, each of another wallet; answers their ids. */
async function stars({ engine }: Stage, count: number): Promise<string[]> {
  const casts = Array.from({ length: count }, () => {
    wallets += 1;
    const wallet = `0.0.${wallets}`;
    return patiently(() => engine.cast(wallet, "token/0.0.9001", wallet));
  });
  return (await Promise.all(casts)).map((result) => bodyOf(result).star.id);
}

let redis: TestRedis | undefined;
test.after(() => redis?.close());
/** An empty Redis, for one test. */
async function emptyRedis(): Promise<string> {
  redis ??= await testRedis({ own: true });
  const client = await createClient({ url: redis.url }).connect();
  await client.flushAll();
  await client.close();
  return redis.url;
}

function relay(
  { sql, stops }: Stage,
  redisUrl: string,
  openQueue = openRewardsQueue,
  troubles = createTroubles({ now: Date.now }),
): Service {
  const rewards = startRewards({
    sql,
    redisUrl,
    log: silentLogger,
    troubles,
    pollEveryMs: 50,
    openQueue,
  });
  stops.unshift(() => rewards.close());
  return rewards;
}

function connection({ stops }: Stage, url: string) {
  const client = createClient({ url });
  client.on("error", () => undefined);
  stops.unshift(async () => client.isOpen && client.destroy());
  return createNodeRedisClient(client as never);
}

/** The queue as its consumer opens it. */
function consumerQueue(stage: Stage, url: string): Queue {
  const queue = new Queue("rewards", { connection: connection(stage, url) });
  queue.on("error", () => undefined);
  stage.stops.unshift(() => queue.close());
  return queue;
}

const waiting = async (queue: Queue): Promise<string[]> =>
  (await queue.getWaiting(0, -1)).map(({ id = "" }) => id).sort();

test("a queue that takes nothing is reported as long as that lasts; a Redis that is away is not", async (stage) => {
  const redisUrl = await emptyRedis();
  const [away, stuck] = [createTroubles({ now: Date.now }), createTroubles({ now: Date.now })];
  let isTried = false;
  relay(
    stage,
    "redis://127.0.0.1:1",
    (url, log) => {
      const queue = openRewardsQueue(url, log);
      return { ...queue, recall: () => queue.recall().finally(() => (isTried = true)) };
    },
    away,
  );
  const client = await createClient({ url: redisUrl }).connect();
  stage.stops.unshift(async () => client.destroy());
  await client.set("bull:rewards:id", "a word");
  await stars(stage, 1);
  relay(stage, redisUrl, openRewardsQueue, stuck);
  await until("the failure is reported", () => "rewardsStuckSince" in stuck.standing());
  await until("Redis was asked", () => isTried);
  assert.ok(!("rewardsStuckSince" in away.standing()));
  await client.del("bull:rewards:id");
  await until("it is over", () => !("rewardsStuckSince" in stuck.standing()));
});

test("a job is the contract's five fields under the star's id, and nothing else", async (stage) => {
  const redisUrl = await emptyRedis();
  const { star } = bodyOf(await stage.engine.cast("0.0.77", "event/meetup"));
  // Further ahead than a lease can be: dated by a clock that has gone back since.
  await stage.sql`
    update reward_hand_off set lease_owner = 'gone', lease_until = now_ms() + 3600000`;
  relay(stage, redisUrl);
  const queue = consumerQueue(stage, redisUrl);
  await until("it is offered", async () => (await queue.getWaitingCount()) === 1);
  const [job] = await queue.getWaiting();
  assert.equal(job?.id, star.id);
  assert.deepEqual(job?.data, {
    starId: star.id,
    wallet: "0.0.77",
    target: { type: "event", id: "meetup" },
    at: star.at,
    day: star.day,
  });
});

test("every star is one job, though three workers hand off while stars are cast", async (stage) => {
  const redisUrl = await emptyRedis();
  for (let n = 0; n < 3; n += 1) relay(stage, redisUrl);
  const queue = consumerQueue(stage, redisUrl);
  const ids: string[] = [];
  for (let round = 0; round < 10; round += 1) ids.push(...(await stars(stage, 60)));
  await until("all are offered", async () => (await pendingRewards(stage.sql)).pending === 0);
  assert.deepEqual(await waiting(queue), ids.sort());
});

test("a backlog of more stars than one batch has room for is offered whole", async (stage) => {
  const redisUrl = await emptyRedis();
  await stars(stage, 1);
  await stage.engine.sql`
    insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power, weight,
      base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit)
    select gen_random_uuid(), day, n, 1, at, target_type, target_id, is_forever_mint, voting_power, weight,
      base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit
    from star, generate_series(1, 1200) as n`;
  relay(stage, redisUrl);
  const queue = consumerQueue(stage, redisUrl);
  await until("all are noted", async () => (await pendingRewards(stage.sql)).pending === 0);
  assert.equal(await queue.getWaitingCount(), 1_201);
});

test("a star whose commit comes after that of a later number is not passed over (A21 outbox-gap)", async (stage) => {
  const redisUrl = await emptyRedis();
  const [early = ""] = await stars(stage, 1);
  const late = openPostgres(stage.url, { connections: 1 });
  stage.stops.unshift(() => late.end({ timeout: 1 }));
  const id = early.replace(/.{4}$/, "0001");
  await late`begin`;
  await late`
    insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power, weight,
      base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit)
    select ${id}, day, 5, 1, at, target_type, target_id, is_forever_mint, voting_power, weight,
      base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit from star`;
  relay(stage, redisUrl);
  const queue = consumerQueue(stage, redisUrl);
  const later = await stars(stage, 3);
  await setTimeout(500);
  await late`commit`;
  await until("all are offered", async () => (await queue.getWaitingCount()) === 5);
  assert.deepEqual(await waiting(queue), [early, id, ...later].sort());
});

test("kill -9 after Redis accepted and before it was noted: offered again under the same ids", async (stage) => {
  const redisUrl = await emptyRedis();
  const ids = await stars(stage, 20);
  const fixture = new URL("../fixtures/die-while-offering.ts", import.meta.url);
  const signal = await new Promise((resolve) => {
    const args = [...nodeArguments(fixture), stage.url, redisUrl];
    execFile(process.execPath, args, (error) => resolve(error?.signal));
  });
  assert.equal(signal, "SIGKILL");
  assert.equal((await pendingRewards(stage.sql)).pending, 20, "no hand-off is noted");
  const queue = consumerQueue(stage, redisUrl);
  assert.deepEqual(await waiting(queue), ids.sort(), "Redis has them");
  // The dead one's lease runs out by itself; a test need not wait for that.
  await stage.sql`update reward_hand_off set lease_until = 0`;
  const more = await stars(stage, 5);
  relay(stage, redisUrl);
  await until("all are noted", async () => (await pendingRewards(stage.sql)).pending === 0);
  assert.deepEqual(await waiting(queue), [...ids, ...more].sort());
});

test("FLUSHALL: what was not finished is offered again, what was finished is not", async (stage) => {
  const redisUrl = await emptyRedis();
  relay(stage, redisUrl);
  const done: string[] = [];
  const worker = new Worker("rewards", async ({ id = "" }) => void done.push(id), {
    connection: connection(stage, redisUrl),
  });
  worker.on("error", () => undefined);
  const finished = await stars(stage, 10);
  await until("they are finished and that is noted", async () => {
    const [row] = await stage.sql`select finished_seq > 0 and finished_seq = offered_seq as yes,
      offered_seq >= (select max(seq) from star) as whole from reward_hand_off`;
    return row?.yes && row.whole;
  });
  await worker.close(true);
  const queue = consumerQueue(stage, redisUrl);
  const open = await stars(stage, 10);
  await until("the rest waits", async () => (await queue.getWaitingCount()) === 10);
  // More are offered before these are finished.
  open.push(...(await stars(stage, 2)));
  await until("the rest waits", async () => (await queue.getWaitingCount()) === 12);
  const client = await createClient({ url: redisUrl }).connect();
  stage.stops.unshift(() => client.close());
  await client.flushAll();
  await until("they are back", async () => (await queue.getWaitingCount()) === 12);
  assert.deepEqual(await waiting(queue), open.sort());
  // It has lost more than was finished, or is another one with a memory of its own.
  const [word] = (await client.get("starboard:rewards:memory"))?.split("/") ?? [];
  for (const memory of [`${word}/0`, "another/999999"]) {
    for (const id of open.slice(1)) await queue.remove(id);
    await client.set("starboard:rewards:memory", memory);
    await until("they are back", async () => (await queue.getWaitingCount()) === 12);
    assert.deepEqual(await waiting(queue), open);
  }
  assert.deepEqual(done.sort(), finished.sort());
});

test("Redis emptied between two batches is noticed, though the second one is accepted", async (stage) => {
  const redisUrl = await emptyRedis();
  const client = await createClient({ url: redisUrl }).connect();
  stage.stops.unshift(() => client.close());
  let isArmed = false;
  relay(stage, redisUrl, (url, log) => {
    const queue = openRewardsQueue(url, log);
    return {
      ...queue,
      async offer(offers) {
        if (isArmed && offers.length > 0) {
          isArmed = false;
          await client.flushAll();
        }
        await queue.offer(offers);
      },
    };
  });
  const queue = consumerQueue(stage, redisUrl);
  const first = await stars(stage, 6);
  await until("these are offered", async () => (await queue.getWaitingCount()) === 6);
  isArmed = true;
  const second = await stars(stage, 6);
  await until("all are back", async () => (await queue.getWaitingCount()) === 12);
  assert.equal(isArmed, false);
  assert.deepEqual(await waiting(queue), [...first, ...second].sort());
});

test("Redis emptied after the first batch that an empty one accepted is noticed", async (stage) => {
  const redisUrl = await emptyRedis();
  const ids = await stars(stage, 6);
  let isEmptied = false;
  relay(stage, redisUrl, (url, log) => {
    const queue = openRewardsQueue(url, log);
    return {
      ...queue,
      async offer(offers) {
        await queue.offer(offers);
        if (isEmptied || offers.length === 0) return;
        await emptyRedis();
        isEmptied = true;
      },
    };
  });
  const queue = consumerQueue(stage, redisUrl);
  await until("all are back", async () => isEmptied && (await queue.getWaitingCount()) === 6);
  assert.deepEqual(await waiting(queue), ids.sort());
});

test("a Redis that has lost its last moments gets these again, and nothing else is lost", async (stage) => {
  const redisUrl = await emptyRedis();
  const client = await createClient({ url: redisUrl }).connect();
  stage.stops.unshift(() => client.close());
  relay(stage, redisUrl);
  const queue = consumerQueue(stage, redisUrl);
  const kept = await stars(stage, 5);
  await until("these are noted", async () => (await pendingRewards(stage.sql)).pending === 0);
  const before = await client.get("starboard:rewards:memory");
  const lost = await stars(stage, 5);
  await until("all are noted", async () => (await pendingRewards(stage.sql)).pending === 0);
  // As a replica that takes over would have it: the jobs are not there, nor what came after them.
  for (const id of [...kept.slice(0, 1), ...lost]) await queue.remove(id);
  await client.set("starboard:rewards:memory", before ?? "");
  await until("they are back", async () => (await queue.getWaitingCount()) === 9);
  assert.deepEqual(await waiting(queue), [...kept.slice(1), ...lost].sort());
});

test("a place that others forged into Redis is none: stars go on to be offered", async (stage) => {
  const redisUrl = await emptyRedis();
  const client = await createClient({ url: redisUrl }).connect();
  stage.stops.unshift(() => client.close());
  relay(stage, redisUrl);
  const queue = consumerQueue(stage, redisUrl);
  const ids = await stars(stage, 3);
  await until("these are noted", async () => (await pendingRewards(stage.sql)).pending === 0);
  const [word] = (await client.get("starboard:rewards:memory"))?.split("/") ?? [];
  await client.set("starboard:rewards:memory", `${word}/1.5`);
  ids.push(...(await stars(stage, 1)));
  await until("all are noted", async () => (await pendingRewards(stage.sql)).pending === 0);
  assert.deepEqual(await waiting(queue), ids.sort());
});

/** The journal goes back to its first two stars, as a standby that takes over and lacks the others. */
async function goBack({ url, stops }: Stage, { withHandOff = true } = {}): Promise<void> {
  const owner = openPostgres(url, { connections: 1 });
  stops.unshift(() => owner.end({ timeout: 1 }));
  await owner.begin(async (own) => {
    await own`alter table star disable trigger all`;
    await own`delete from star where seq > 2`;
    await own`alter table star enable trigger all`;
    if (withHandOff) {
      await own`update reward_hand_off
        set offered_seq = 2, finished_seq = 0, lease_owner = null, lease_until = 0`;
    }
    await own`select setval('journal_seq', 2)`;
  });
}

test("stars of a journal that went back under a running worker are offered as they come", async (stage) => {
  const redisUrl = await emptyRedis();
  relay(stage, redisUrl);
  const queue = consumerQueue(stage, redisUrl);
  const before = await stars(stage, 10);
  await until("these are noted", async () => (await pendingRewards(stage.sql)).pending === 0);
  const writer = openPostgres(stage.url, { connections: 1 });
  stage.stops.unshift(() => writer.end({ timeout: 1 }));
  // Somebody writes at each look at it: under load that is so.
  await writer`begin`;
  await writer`lock table event_total in row exclusive mode`;
  await goBack(stage);
  await setTimeout(200);
  const after = await stars(stage, 3);
  await writer`rollback`;
  await until("these are noted too", async () => (await pendingRewards(stage.sql)).pending === 0);
  assert.deepEqual(await waiting(queue), [...before, ...after].sort());
});

for (const withHandOff of [true, false]) {
  test(`stars of a journal that goes back between two statements of a worker are offered, the hand-off ${withHandOff ? "with it" : "not"}`, async (stage) => {
    const redisUrl = await emptyRedis();
    let way: Promise<void> | "ahead" | undefined;
    const sql = new Proxy(stage.sql, {
      apply(target, thisArg, args: Parameters<typeof stage.sql>) {
        const query = Reflect.apply(target, thisArg, args);
        const isTaken = String(args[0]).includes("update reward_hand_off set lease_owner");
        if (way !== "ahead" || !isTaken) return query;
        way = goBack(stage, { withHandOff });
        return way.then(() => query);
      },
    });
    relay({ ...stage, sql }, redisUrl);
    const queue = consumerQueue(stage, redisUrl);
    const before = await stars(stage, 10);
    await until("these are noted", async () => (await pendingRewards(stage.sql)).pending === 0);
    way = "ahead";
    await stars(stage, 1);
    await until("it goes back", () => way !== "ahead");
    await way;
    const after = await stars(stage, 3);
    const all = [...before, ...after].sort();
    await until("all are offered", async () => (await queue.getWaitingCount()) === all.length);
    assert.deepEqual(await waiting(queue), all);
  });
}

test("reoffer: a finished day comes again under the same ids, and twice is once", async (stage) => {
  const redisUrl = await emptyRedis();
  relay(stage, redisUrl);
  const queue = consumerQueue(stage, redisUrl);
  const worker = new Worker("rewards", async () => undefined, {
    connection: connection(stage, redisUrl),
  });
  worker.on("error", () => undefined);
  const ids = await stars(stage, 4);
  await until("they are finished", async () => (await queue.getCompletedCount()) === 4);
  await worker.close(true);
  const day = dayOf(stage.engine.clock.now());
  const settings = { DATABASE_URL: stage.url, REDIS_URL: redisUrl };
  const reoffer = await starboard(["rewards", "reoffer", "--day", day, "--json"], settings);
  assert.equal(reoffer.status, 0, reoffer.stderr);
  assert.deepEqual(reoffer.json(), { day, offered: 4 });
  assert.deepEqual(await waiting(queue), ids.sort());
  const again = openRewardsQueue(redisUrl, silentLogger);
  await again.ready();
  assert.equal(await reofferDay(stage.sql, again, day), 4);
  await again.close();
  assert.deepEqual(await waiting(queue), ids);
});

test("reoffer: refused on a Redis that no worker hands stars to, as the one from npm", async (stage) => {
  const npm = await startRedis({ dataDir: temporaryFolder("npm-redis"), path: "" });
  stage.stops.unshift(() => npm.close());
  assert.equal(npm.kind, "js-redis-server");
  await stars(stage, 2);
  const day = dayOf(stage.engine.clock.now());
  for (const redisUrl of [npm.url, await emptyRedis()]) {
    const settings = { DATABASE_URL: stage.url, REDIS_URL: redisUrl };
    const { status, stderr } = await starboard(["rewards", "reoffer", "--day", day], settings);
    assert.equal(status, 1);
    assert.match(stderr, /^this Redis remembers no hand-off to rewards: .* not fit for BullMQ\n$/);
  }
});

test("Redis down while stars are cast: all are offered when it is back", async (stage) => {
  const dataDir = temporaryFolder("rewards-redis");
  const first = await startRedis({ dataDir });
  relay(stage, first.url);
  const queue = consumerQueue(stage, first.url);
  const before = await stars(stage, 5);
  await until("these are offered", async () => (await queue.getWaitingCount()) === 5);
  await first.close();
  const during = await stars(stage, 15);
  await setTimeout(300);
  assert.equal((await pendingRewards(stage.sql)).pending, 15);
  const second = await startRedis({ dataDir });
  stage.stops.unshift(() => second.close());
  assert.equal(second.url, first.url);
  await until("all are offered", async () => (await pendingRewards(stage.sql)).pending === 0);
  assert.deepEqual(await waiting(queue), [...before, ...during].sort());
});

test("without a Redis fit for BullMQ rewards wait, and that is said once", async (stage) => {
  const lines: string[] = [];
  const log = pino({ level: "warn" }, { write: (line) => void lines.push(line) });
  await stars(stage, 3);
  const rewards = startRewards({ sql: stage.sql, redisUrl: undefined, log });
  await rewards.close();
  assert.equal(lines.length, 1);
  const { pending, oldestPendingSeconds } = await pendingRewards(stage.sql);
  assert.equal(pending, 3);
  assert.ok((oldestPendingSeconds ?? -1) >= 0);
});

test.run();
