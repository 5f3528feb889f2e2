/**
 * Goal: the check is called when it may be due, by any part that still works. Method: a real Redis
 * behind BullMQ, a check that counts its calls, and for whole runs the real one
 * with a clock that the test moves.
 */
import * as assert from "node:assert/strict";
import { createNodeRedisClient, Queue } from "bullmq";
import { createClient } from "redis";
import { test } from "uvu";
import { silentLogger } from "../../src/log.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { createHoldingsCheck, type DueOutcome } from "../../src/upkeep/holdings-check/check.ts";
import { openMidnightQueue } from "../../src/upkeep/midnight-queue.ts";
import { startHoldingsCheckSchedule } from "../../src/upkeep/schedule.ts";
import { seedDirectory } from "../support/engine.ts";
import { testDatabase } from "../support/postgres.ts";
import { testRedis } from "../support/redis.ts";

const NEVER_MS = 3_600_000;
const NOTHING_DUE: DueOutcome = { kind: "nothing-due" };

/** A check that is called, and lets the test wait for its n-th call. */
function calledCheck(answer: (call: number) => DueOutcome | Error = () => NOTHING_DUE) {
  let calls = 0;
  const waiting: { readonly call: number; readonly resolve: () => void }[] = [];
  return {
    calls: () => calls,
    async reached(call: number): Promise<void> {
      // The schedule's own timers do not keep a process alive.
      const alive = setInterval(() => undefined, NEVER_MS);
      await new Promise<void>((resolve) => {
        if (calls >= call) resolve();
        else waiting.push({ call, resolve });
      });
      clearInterval(alive);
    },
    runDue: async (): Promise<DueOutcome> => {
      calls += 1;
      for (const { call, resolve } of waiting) if (calls >= call) resolve();
      const outcome = answer(calls);
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
    close: async () => undefined,
  };
}

interface Looked {
  readonly queue: Queue;
  close(): Promise<void>;
}

/** The test's own look at BullMQ's queue. */
async function lookAt(redisUrl: string): Promise<Looked> {
  const client = createClient({ url: redisUrl, maintNotifications: "disabled" });
  const connection = createNodeRedisClient(client);
  const queue = new Queue("upkeep", { connection, prefix: "{starboard}" });
  return {
    queue,
    async close() {
      await queue.close();
      if (client.isOpen) client.destroy();
    },
  };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, "it did not come about in time");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("the schedule is for 00:00 UTC, and its job calls the check", async () => {
  const redis = await testRedis({ own: true });
  const check = calledCheck();
  const schedule = startHoldingsCheckSchedule({
    check,
    redisUrl: redis.url,
    log: silentLogger,
    tickEveryMs: NEVER_MS,
  });
  const look = await lookAt(redis.url);
  await until(async () => (await look.queue.getJobSchedulersCount()) === 1);
  const [scheduler] = await look.queue.getJobSchedulers();
  assert.deepEqual([scheduler?.pattern, scheduler?.tz], ["0 0 * * *", "UTC"]);
  assert.equal(Number(scheduler?.next) % 86_400_000, 0, "the next ring is a midnight");
  const [ring] = await look.queue.getDelayed();
  assert.equal(ring?.name, "wake");
  assert.equal(check.calls(), 1, "it asked once at its start");
  await ring?.promote();
  await check.reached(2);
  await schedule.close();
  assert.equal(await look.queue.getJobSchedulersCount(), 1, "the schedule outlives the worker");
  await look.close();
  await redis.close();
});

test("workers that start together set up one schedule, without an error", async () => {
  const redis = await testRedis({ own: true });
  const complaints: unknown[] = [];
  const onError = (error: unknown) => complaints.push(error);
  const queues = await Promise.all(
    Array.from({ length: 6 }, () =>
      openMidnightQueue({ redisUrl: redis.url, onMidnight: () => undefined, onError }),
    ),
  );
  await Promise.all(queues.map((queue) => queue.assert()));
  await Promise.all(queues.map((queue) => queue.assert()));
  const look = await lookAt(redis.url);
  assert.equal(await look.queue.getJobSchedulersCount(), 1);
  assert.equal(await look.queue.getDelayedCount(), 1);
  await Promise.all([...queues, look].map((each) => each.close()));
  assert.deepEqual(complaints, []);
  await redis.close();
});

test("FLUSHALL takes the schedule along; it is put back, and the tick goes on meanwhile (A11 redis-flush)", async () => {
  const redis = await testRedis({ own: true });
  const check = calledCheck();
  const schedule = startHoldingsCheckSchedule({
    check,
    redisUrl: redis.url,
    log: silentLogger,
    tickEveryMs: 20,
    assertEveryMs: 200,
  });
  const look = await lookAt(redis.url);
  await until(async () => (await look.queue.getJobSchedulersCount()) === 1);
  const client = await createClient({ url: redis.url }).connect();
  await client.flushAll();
  await check.reached(check.calls() + 2);
  await until(async () => (await look.queue.getJobSchedulersCount()) === 1);
  client.destroy();
  await schedule.close();
  await look.close();
  await redis.close();
});

test("without Redis, and with a check that fails, the tick goes on", async () => {
  const check = calledCheck((call) => (call < 3 ? new Error("Postgres is away") : NOTHING_DUE));
  const schedule = startHoldingsCheckSchedule({
    check,
    redisUrl: "redis://127.0.0.1:9",
    log: silentLogger,
    tickEveryMs: 20,
  });
  await check.reached(5);
  await schedule.close();
});

test("without a Redis that is fit for BullMQ, the tick alone calls the check", async () => {
  const check = calledCheck();
  const schedule = startHoldingsCheckSchedule({
    check,
    redisUrl: undefined,
    log: silentLogger,
    tickEveryMs: 20,
  });
  await check.reached(3);
  await schedule.close();
});

test("what was left open is tried again when it said, not at the next tick", async () => {
  const open = (retryAfterMs: number | null): DueOutcome => ({
    kind: "checked",
    run: { id: "a run", day: "2026-11-20", kind: "scheduled", passes: 1 },
    retryAfterMs,
  });
  const check = calledCheck((call) => open(call === 1 ? 10 : null));
  const schedule = startHoldingsCheckSchedule({
    check,
    redisUrl: "redis://127.0.0.1:9",
    log: silentLogger,
    tickEveryMs: NEVER_MS,
  });
  await check.reached(2);
  await schedule.close();
  assert.equal(check.calls(), 2);
});

test("workers stopped over 00:00 and started at 09:00 make one run, eight of them at once (A23 scheduler-storm)", async () => {
  const [redis, database] = [
    await testRedis({ own: true }),
    await testDatabase({ migrated: true }),
  ];
  const sql = openPostgres(database.url, { connections: 8, role: "starboard_app" });
  await seedDirectory(sql);
  const clock = { at: Date.UTC(2026, 10, 20, 20), now: () => clock.at };
  const unread = () => assert.fail();
  const mirror = { nftOwners: unread, nft: unread, newestBlock: unread };
  const collections = { A: "0.0.5001", B: "0.0.5002" };
  const work = async (): Promise<void> => {
    const schedules = Array.from({ length: 8 }, () =>
      startHoldingsCheckSchedule({
        check: createHoldingsCheck({ sql, mirror, clock, log: silentLogger, collections }),
        redisUrl: redis.url,
        log: silentLogger,
        tickEveryMs: 50,
      }),
    );
    await until(async () => {
      const [row] = await sql<{ n: number }[]>`
        select count(*) as n from holdings_check_run
        where day = ${new Date(clock.at).toISOString().slice(0, 10)} and state <> 'running'`;
      return row?.n === 1;
    });
    await Promise.all(schedules.map((schedule) => schedule.close()));
  };
  await work();
  clock.at = Date.UTC(2026, 10, 21, 9);
  await work();
  const runs = await sql`select day, state, passes from holdings_check_run order by day`;
  assert.deepEqual(
    runs.map((run) => ({ ...run })),
    [
      { day: "2026-11-20", state: "skipped", passes: 0 },
      { day: "2026-11-21", state: "done", passes: 1 },
    ],
  );
  await sql.end({ timeout: 1 });
  await database.close();
  await redis.close();
});

test.run();
