import * as assert from "node:assert/strict";
import { createClient } from "redis";
import { suite } from "uvu";
import { startRedis } from "../../src/local/redis.ts";
import { silentLogger } from "../../src/log.ts";
import {
  createDirectWakeQueue,
  createWakeQueue,
  type WakeQueue,
} from "../../src/publishing/queue.ts";
import { temporaryFolder } from "../support/folder.ts";
import { redisPair, type TestRedis, testRedis } from "../support/redis.ts";
import { SLACK_MS } from "../support/slack.ts";

/** Counts wake-ups and lets a test wait for them. */
class Calls {
  count = 0;
  #waiting: (() => void)[] = [];

  readonly hear = (): void => {
    this.count += 1;
    for (const resume of this.#waiting.splice(0)) resume();
  };

  /** Resolves at the next wake-up from now on. */
  next(withinMs = 10_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("no publisher was woken")), withinMs);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

const test = suite("wake-up queue");
const queues: WakeQueue[] = [];
let redis: TestRedis;
const newQueue = (): WakeQueue => {
  const queue = createWakeQueue(redis.url, silentLogger);
  queues.push(queue);
  return queue;
};
test.before(async () => {
  redis = await testRedis({ own: true });
});
test.after.each(async () => {
  for (const queue of queues.splice(0)) await queue.close();
});
test.after(() => redis.close());

test("a wake-up of one process reaches another", async () => {
  const [web, worker, calls] = [newQueue(), newQueue(), new Calls()];
  worker.onWake(calls.hear);
  const woken = calls.next();
  web.wake();
  await woken;
});

test("a thousand wake-ups merge into a few, and one of them comes after the last", async () => {
  const [web, worker, calls] = [newQueue(), newQueue(), new Calls()];
  worker.onWake(calls.hear);
  const first = calls.next();
  web.wake();
  await first;
  const before = calls.count;
  for (let i = 0; i < 1_000; i++) web.wake();
  await calls.next();
  const last = calls.next();
  web.wake();
  await last;
  assert.ok(calls.count - before < 100, `${calls.count - before} calls`);
});

test("wake-ups without a listener are heard once by the next one", async () => {
  const web = newQueue();
  const early = newQueue();
  const heard = new Calls();
  early.onWake(heard.hear);
  const connected = heard.next();
  web.wake();
  await connected;
  await early.close();
  for (let i = 0; i < 50; i++) {
    web.wake();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const [worker, calls] = [newQueue(), new Calls()];
  const woken = calls.next();
  worker.onWake(calls.hear);
  await woken;
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.ok(calls.count <= 3, `${calls.count} calls`);
});

test("without a Redis, waking costs nothing, and closing does not wait", async () => {
  const queue = createWakeQueue("redis://127.0.0.1:1", silentLogger);
  queue.onWake(() => assert.fail("nothing can have woken it"));
  const started = performance.now();
  for (let i = 0; i < 10_000; i++) queue.wake();
  assert.ok(performance.now() - started < SLACK_MS);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const closing = performance.now();
  await queue.close();
  assert.ok(performance.now() - closing < SLACK_MS, `${performance.now() - closing} ms`);
});

test("wake-ups go on where a primary became a replica and kept its connections", async () => {
  const pair = await redisPair();
  const [web, worker] = [pair, pair].map(({ url }) => createWakeQueue(url, silentLogger));
  const calls = new Calls();
  worker?.onWake(calls.hear);
  const before = calls.next();
  web?.wake();
  await before;
  await pair.failOver();
  const after = calls.next(20_000);
  // As stars come: one whose wake-up was refused is found by the sweep.
  const stars = setInterval(() => web?.wake(), 100);
  await after.finally(() => clearInterval(stars));
  await Promise.all([web?.close(), worker?.close()]);
  await pair.close();
});

test("within one process a wake-up reaches every listener at once, and none after closing", async () => {
  const queue = createDirectWakeQueue();
  const [publisher, other] = [new Calls(), new Calls()];
  queue.wake();
  queue.onWake(publisher.hear);
  queue.onWake(other.hear);
  queue.wake();
  assert.deepEqual([publisher.count, other.count], [1, 1]);
  await queue.close();
  queue.wake();
  assert.deepEqual([publisher.count, other.count], [1, 1]);
});

test("wake-ups work again within five seconds after Redis is back, empty (A11 redis-flush)", async () => {
  const dataDir = temporaryFolder("queue-redis");
  const first = await startRedis({ dataDir });
  const [web, worker, calls] = [
    createWakeQueue(first.url, silentLogger),
    createWakeQueue(first.url, silentLogger),
    new Calls(),
  ];
  worker.onWake(calls.hear);
  const woken = calls.next();
  web.wake();
  await woken;
  await first.close();
  for (let i = 0; i < 100; i++) web.wake();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const second = await startRedis({ dataDir });
  const client = await createClient({ url: second.url }).connect();
  await client.flushAll();
  await client.close();
  const again = calls.next(5_000);
  const waking = setInterval(() => web.wake(), 100);
  await again.finally(() => clearInterval(waking));
  await web.close();
  await worker.close();
  await second.close();
});

test.run();
