/**
 * Goal: what is told of the queues is so, on either backend, and looking changes nothing. Method:
 * BullMQ's own queues and workers on a real Redis and a real Postgres, put into every state.
 */
import * as assert from "node:assert/strict";
import { createNodeRedisClient, createPostgresBackend, Queue, Worker, withBackend } from "bullmq";
import { createClient } from "redis";
import { suite } from "uvu";
import { silentLogger } from "../../src/log.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import type { QueueBackend } from "../../src/store/queue-connection.ts";
import { openQueueReader, type QueueReader } from "../../src/store/queue-reader.ts";
import { closeRedis, openRedis } from "../../src/store/redis.ts";
import { testDatabase } from "../support/postgres.ts";
import { until } from "../support/processes.ts";
import { testRedis } from "../support/redis.ts";

interface Bench {
  readonly backend: QueueBackend;
  /** The test's own hands. */
  queue(name: string): Queue;
  worker(name: string, work: (job: { name: string }) => Promise<void>): Worker;
  /** Everything that is stored, to be compared. */
  stored(): Promise<unknown>;
  close(): Promise<void>;
}

/** Rewards have BullMQ's own prefix. */
const prefixOf = (name: string): string => (name === "rewards" ? "bull" : "{starboard}");

async function onRedis(): Promise<Bench> {
  const server = await testRedis({ own: true });
  const clients: { destroy(): void; isOpen: boolean }[] = [];
  const options = (name: string) => {
    const client = createClient({ url: server.url, maintNotifications: "disabled" });
    client.on("error", () => undefined);
    clients.push(client);
    return { connection: createNodeRedisClient(client), prefix: prefixOf(name) };
  };
  const redis = openRedis(server.url, silentLogger);
  const parts: { close(force?: boolean): Promise<void> }[] = [];
  const kept = <P extends { close(force?: boolean): Promise<void> }>(part: P): P => {
    parts.push(part);
    return part;
  };
  return {
    backend: { redisUrl: server.url },
    queue: (name) => kept(new Queue(name, options(name))),
    worker: (name, work) => kept(new Worker(name, work, options(name))),
    async stored() {
      await until("Redis is there", () => redis.isReady);
      const keys = (await redis.keys("*")).sort();
      return Promise.all(keys.map(async (key) => [key, await redis.sendCommand(["DUMP", key])]));
    },
    async close() {
      await Promise.all(parts.map((part) => part.close(true)));
      for (const client of clients) if (client.isOpen) client.destroy();
      await closeRedis(redis);
      await server.close();
    },
  };
}

async function onPostgres(): Promise<Bench> {
  const database = await testDatabase({ migrated: true });
  const made = withBackend(createPostgresBackend);
  const connection = { connectionString: database.url, max: 2, migrate: true };
  const parts: { close(): Promise<void> }[] = [];
  const kept = <P extends { close(): Promise<void> }>(part: P): P => {
    parts.push(part);
    return part;
  };
  const sql = openPostgres(database.url, { connections: 1 });
  return {
    backend: { postgresUrl: database.url },
    queue: (name) => kept(new made.Queue(name, { connection }) as unknown as Queue),
    worker: (name, work) => kept(new made.Worker(name, work, { connection }) as unknown as Worker),
    stored: async () => [
      [...(await sql`select * from bullmq.job order by queue, id`)],
      [...(await sql`select * from bullmq.scheduler`)],
      [...(await sql`select queue, field from bullmq.meta order by queue, field`)],
    ],
    async close() {
      // Not by force: a worker that waits for its next job would leave its timers behind.
      await Promise.all(parts.map((part) => part.close()));
      await sql.end({ timeout: 1 });
      await database.close();
    },
  };
}

interface Context {
  bench: Bench;
  reader: QueueReader;
}

function readerContract(home: "redis" | "postgres", open: () => Promise<Bench>): void {
  const test = suite<Context>(`queue reader: ${home}`);
  test.before(async (context) => {
    const bench = await open();
    // Its tables, where the backend has any, are made by whoever uses a queue first.
    await bench.queue("publishing").waitUntilReady();
    const reader = openQueueReader({ backend: bench.backend, isThere: () => true });
    Object.assign(context, { bench, reader });
  });
  test.after(async ({ bench, reader }) => {
    await reader.close();
    await bench.close();
  });

  test("says where the queues live, and that nothing is in them", async ({ reader }) => {
    assert.equal(reader.home, home);
    const queues = await reader.queues();
    assert.deepEqual(
      queues.map(({ name }) => name),
      ["publishing", "upkeep", "rewards"],
    );
    for (const queue of queues) {
      assert.deepEqual(
        Object.values(queue.counts),
        Object.values(queue.counts).map(() => 0),
      );
      assert.deepEqual([queue.isPaused, queue.workers, queue.schedule], [false, 0, null]);
    }
  });

  test("tells jobs of every state, and what is the matter with each", async ({ bench, reader }) => {
    const queue = bench.queue("rewards");
    let isHeld = false;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    bench.worker("rewards", async ({ name }) => {
      if (name === "broken") throw new Error("no such quest");
      if (name !== "slow") return;
      isHeld = true;
      await held;
    });
    const before = Date.now();
    await queue.add("broken", { starId: "s-1", apiKey: "hush" }, { jobId: "broken-1" });
    await queue.add("again", { n: 1 }, { jobId: "done-1" });
    await queue.add(
      "broken",
      {},
      { jobId: "later-1", attempts: 5, backoff: { type: "fixed", delay: 600_000 } },
    );
    await queue.add("slow", {}, { jobId: "slow-1" });
    await until("the slow one is begun", () => isHeld);
    await queue.add("star", { wallet: "0.0.1" }, { jobId: "waiting-1" });
    await queue.add("star", {}, { jobId: "first-1", priority: 3 });
    await queue.add("star", {}, { jobId: "tomorrow-1", delay: 86_400_000 });

    const { counts, workers } = await reader.queue("rewards");
    assert.deepEqual(counts, {
      waiting: 1,
      prioritized: 1,
      delayed: 2,
      "waiting-children": 0,
      active: 1,
      failed: 1,
      completed: 1,
    });
    assert.equal(workers, 1);
    const one = async (state: "failed" | "active" | "waiting") =>
      (await reader.jobs({ name: "rewards", state, skip: 0, limit: 5 })).map(({ id }) => id);
    assert.deepEqual(await one("failed"), ["broken-1"]);
    assert.deepEqual(await one("active"), ["slow-1"]);
    assert.deepEqual(await one("waiting"), ["waiting-1"]);

    const failed = await reader.job("rewards", "broken-1");
    assert.equal(failed?.state, "failed");
    assert.equal(failed?.failure, "no such quest");
    assert.match(failed?.failedAt ?? "", /^at .*queue-reader\.test/);
    assert.deepEqual([failed?.attempts, failed?.attemptsMax], [1, 1]);
    assert.deepEqual(failed?.data, { starId: "s-1", apiKey: "(hidden)" });
    assert.ok((failed?.addedAt ?? 0) >= before - 1_000 && (failed?.endedAt ?? 0) >= before - 1_000);

    const delayed = await reader.jobs({ name: "rewards", state: "delayed", skip: 0, limit: 5 });
    assert.deepEqual(
      delayed.map(({ id, attempts, attemptsMax }) => [id, attempts, attemptsMax]),
      [
        ["later-1", 1, 5],
        ["tomorrow-1", 0, 1],
      ],
    );
    const minutes = (dueAt: number | null) => Math.round(((dueAt ?? 0) - before) / 60_000);
    assert.deepEqual(
      delayed.map(({ dueAt }) => minutes(dueAt)),
      [10, 1_440],
    );
    assert.equal(delayed[0]?.failure, "no such quest");
    assert.equal(await reader.job("rewards", "nobody"), null);
    release();
    await until("the slow one is done", async () => (await queue.getActiveCount()) === 0);
  });

  test("turns the pages of a long list, and counts what waits in a paused queue", async ({
    bench,
    reader,
  }) => {
    const queue = bench.queue("publishing");
    await queue.pause();
    for (let n = 0; n < 7; n += 1) await queue.add("wake", {}, { jobId: `wake-${n}` });
    const { isPaused, counts } = await reader.queue("publishing");
    assert.deepEqual([isPaused, counts.waiting], [true, 7]);
    const page = async (skip: number) =>
      (await reader.jobs({ name: "publishing", state: "waiting", skip, limit: 3 })).map(
        ({ id }) => id,
      );
    assert.deepEqual(
      [await page(0), await page(3), await page(6), await page(9)],
      [["wake-6", "wake-5", "wake-4"], ["wake-3", "wake-2", "wake-1"], ["wake-0"], []],
    );
    await queue.resume();
    assert.equal((await reader.queue("publishing")).isPaused, false);
  });

  test("tells when the clock rings next, and what is held for it", async ({ bench, reader }) => {
    bench.worker("upkeep", async () => undefined);
    const midnight = { pattern: "0 0 * * *", tz: "UTC" };
    await bench.queue("upkeep").upsertJobScheduler("holdings-check", midnight, { name: "wake" });
    await until(
      "its worker is connected",
      async () => (await reader.queue("upkeep")).workers === 1,
    );
    const { schedule, counts } = await reader.queue("upkeep");
    assert.equal(schedule?.pattern, "0 0 * * *");
    assert.equal((schedule?.nextAt ?? 1) % 86_400_000, 0);
    assert.equal(counts.delayed, 1);
    const [job] = await reader.jobs({ name: "upkeep", state: "delayed", skip: 0, limit: 1 });
    assert.equal(job?.dueAt, schedule?.nextAt);
    // Its id has colons in it.
    assert.equal((await reader.job("upkeep", job?.id ?? ""))?.name, "wake");
  });

  test("changes nothing by looking", async ({ bench, reader }) => {
    const before = await bench.stored();
    await reader.queues();
    await reader.jobs({ name: "rewards", state: "failed", skip: 0, limit: 5 });
    await reader.job("rewards", "broken-1");
    assert.deepEqual(await bench.stored(), before);
  });

  test("says so when the queues are away", async ({ bench }) => {
    const reader = openQueueReader({ backend: bench.backend, isThere: () => false });
    await assert.rejects(reader.queues(), { code: "UNAVAILABLE" });
    await reader.close();
  });
  test.run();
}

readerContract("redis", onRedis);
readerContract("postgres", onPostgres);
