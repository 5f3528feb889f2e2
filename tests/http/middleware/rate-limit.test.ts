/** 100 accepted requests in any 60 s per client, over all processes, with and without Redis. */
import * as assert from "node:assert/strict";
import fc from "fast-check";
import { type Context, Hono } from "hono";
import { test } from "uvu";
import { rateLimit } from "../../../src/http/middleware/rate-limit.ts";
import { sharedWindow } from "../../../src/http/middleware/shared-window.ts";
import { localWindow } from "../../../src/http/middleware/sliding-window.ts";
import { silentLogger } from "../../../src/log.ts";
import { createMetrics } from "../../../src/metrics.ts";
import { closeRedis, openRedis, type Redis } from "../../../src/store/redis.ts";
import { type TestRedis, testRedis } from "../../support/redis.ts";
import { SLACK_MS } from "../../support/slack.ts";
import { bodyOf, type FakeClock, fakeClock, NOW } from "../v1/house.ts";

const LIMIT = 100;
const WINDOW_MS = 60_000;
const SECOND = 1_000;

let server: TestRedis;
let redis: Redis;
test.before(async () => {
  server = await testRedis();
  redis = await connected(server.url);
});
test.after(async () => {
  await closeRedis(redis);
  await server.close();
});

async function connected(url: string): Promise<Redis> {
  const client = openRedis(url, silentLogger);
  if (!client.isReady) await new Promise((resolve) => client.once("ready", resolve));
  return client;
}

interface Instance {
  ask(client?: string): Promise<Response>;
}

/** One of several processes: it shares Redis and nothing else. */
function instance(given: {
  clock: FakeClock;
  redis?: Redis;
  name?: string;
  limit?: number;
  processes?: () => number;
}): Instance {
  const limit = rateLimit({
    name: given.name ?? "test",
    limit: given.limit ?? LIMIT,
    windowMs: WINDOW_MS,
    clock: given.clock,
    redis: given.redis,
    processes: given.processes,
    client: (c) => (c as Context).req.header("x-client") ?? "one",
    metrics: createMetrics(),
  });
  const app = new Hono().get("/", limit.middleware, (c) => c.text("ok"));
  return { ask: async (client = "one") => app.request("/", { headers: { "x-client": client } }) };
}

let names = 0;
/** Two processes on one Redis, with a window that no other test knows. */
function pair(clock: FakeClock, limit = LIMIT): [Instance, Instance] {
  const name = `pair-${names++}`;
  return [instance({ clock, redis, name, limit }), instance({ clock, redis, name, limit })];
}

async function accepted(ask: () => Promise<Response>, times: number): Promise<number> {
  let count = 0;
  for (let n = 0; n < times; n++) if ((await ask()).status === 200) count++;
  return count;
}

test("two processes together accept 100, and no more", async () => {
  const [a, b] = pair(fakeClock());
  const replies = await Promise.all(
    Array.from({ length: 150 }, (_, n) => (n % 2 === 0 ? a : b).ask()),
  );
  assert.equal(replies.filter(({ status }) => status === 200).length, LIMIT);
});

test("100 requests at 0:59 leave none for 1:01: the window slides", async () => {
  const clock = fakeClock(NOW + 59 * SECOND);
  const [a, b] = pair(clock);
  assert.equal(await accepted(() => a.ask(), LIMIT), LIMIT);
  clock.set(NOW + 61 * SECOND);
  assert.equal(await accepted(() => b.ask(), 5), 0);
  clock.set(NOW + 119 * SECOND - 1);
  assert.equal(await accepted(() => b.ask(), 5), 0);
  clock.set(NOW + 119 * SECOND);
  assert.equal(await accepted(() => b.ask(), LIMIT + 5), LIMIT);
});

test("refused requests do not count: a client that waits for Retry-After is accepted", async () => {
  const clock = fakeClock();
  const [a, b] = pair(clock, 3);
  await accepted(() => a.ask(), 3);
  for (let round = 0; round < 20; round++) {
    clock.set(clock.now() + round * 137);
    const refused = await b.ask();
    assert.equal(refused.status, 429);
    const seconds = Number(refused.headers.get("retry-after"));
    assert.ok(Number.isInteger(seconds) && seconds >= 1);
    await accepted(() => a.ask(), 50);
    clock.set(clock.now() + seconds * SECOND);
    assert.equal((await b.ask()).status, 200, `round ${round}`);
    assert.equal(await accepted(() => a.ask(), 2), 2);
  }
});

test("headers: the policy, what remains, and until when; clients do not affect each other", async () => {
  const clock = fakeClock();
  const [a, b] = pair(clock, 2);
  const first = await a.ask();
  assert.equal(first.headers.get("ratelimit-policy"), '"ip";q=2;w=60');
  assert.equal(first.headers.get("ratelimit"), '"ip";r=1;t=60');
  clock.set(NOW + 10_500);
  assert.equal((await b.ask()).headers.get("ratelimit"), '"ip";r=0;t=50');
  const refused = await a.ask();
  assert.equal(refused.headers.get("ratelimit"), '"ip";r=0;t=50');
  assert.deepEqual(Object.keys(await bodyOf(refused)), ["error"]);
  assert.equal((await a.ask("two")).status, 200);
  // A little more than the two seconds that are left: clocks differ, and timers of clients fire early.
  clock.set(NOW + 58 * SECOND);
  assert.equal((await a.ask()).headers.get("retry-after"), "3");
});

test("429 RATE_LIMITED: a limit may give its refusal a code", async () => {
  const clock = fakeClock();
  const client = () => "one";
  const limit = rateLimit({
    name: "v",
    limit: 1,
    windowMs: WINDOW_MS,
    clock,
    client,
    code: "RATE_LIMITED",
  });
  const app = new Hono().get("/", limit.middleware, (c) => c.text("ok"));
  assert.equal((await app.request("/")).status, 200);
  const refused = await app.request("/");
  assert.equal(refused.status, 429);
  assert.equal((await bodyOf(refused)).code, "RATE_LIMITED");
  assert.equal(refused.headers.get("retry-after"), "60", "never more than the window");
});

test("two clocks that differ a little keep one order, and a clock that runs back opens nothing", async () => {
  const name = `skew-${names++}`;
  const ahead = fakeClock(NOW + 300);
  const behind = fakeClock(NOW);
  const a = instance({ clock: ahead, redis, name, limit: 2 });
  const b = instance({ clock: behind, redis, name, limit: 2 });
  assert.equal((await a.ask()).status, 200);
  assert.equal((await b.ask()).status, 200);
  behind.set(NOW + WINDOW_MS + 299);
  assert.equal((await b.ask()).status, 429);
  behind.set(NOW + WINDOW_MS + 300);
  assert.equal((await b.ask()).status, 200);
});

test("a clock that is set back far refuses no client that has waited", async () => {
  for (const shared of [redis, undefined]) {
    const clock = fakeClock();
    const one = instance({ clock, ...(shared && { redis }), name: `back-${names++}`, limit: 100 });
    for (let n = 0; n < 100; n++, clock.set(clock.now() + SECOND)) await one.ask();
    clock.set(NOW - 3_600 * SECOND);
    assert.equal(await accepted(() => one.ask(), 150), 100);
    clock.set(clock.now() + WINDOW_MS);
    assert.equal(await accepted(() => one.ask(), 150), 100);
  }
});

test("memory of a client is bounded, and freed when its window is over", async () => {
  const clock = fakeClock();
  const name = `bounded-${names++}`;
  const one = instance({ clock, redis, name, limit: 5 });
  await accepted(() => one.ask(), 50);
  const key = `starboard:rate:${name}:{one}`;
  assert.equal(await redis.lLen(key), 5);
  const lifetime = await redis.pTTL(key);
  assert.ok(lifetime > 0 && lifetime <= WINDOW_MS + 1_000, String(lifetime));
});

test("without Redis a process limits alone, from its own memory", async () => {
  const alone = instance({ clock: fakeClock() });
  assert.equal(await accepted(() => alone.ask(), LIMIT + 20), LIMIT);
});

test("when Redis dies the limit still holds and no request hangs", async () => {
  const own = await testRedis({ own: true });
  const client = await connected(own.url);
  const clock = fakeClock();
  const one = instance({ clock, redis: client, name: "dying" });
  assert.equal(await accepted(() => one.ask(), 60), 60);
  await own.close();
  const started = performance.now();
  assert.equal(await accepted(() => one.ask(), 60), 40, "what was accepted before is remembered");
  assert.ok(performance.now() - started < SLACK_MS);
  await closeRedis(client);
});

test("while Redis is away four processes let a quarter through each, and waiting for Retry-After helps (P14)", async () => {
  const own = await testRedis({ own: true });
  const client = await connected(own.url);
  const clock = fakeClock();
  const given = { clock, name: "shared", processes: () => 4 };
  const one = instance({ ...given, redis: client });
  assert.equal(await accepted(() => one.ask("early"), 60), 60, "Redis counts for all of them");
  await own.close();
  assert.equal(await accepted(() => one.ask("early"), 60), 0, "more than its share went through");
  assert.equal(await accepted(() => one.ask("late"), 60), 25);
  const alone = instance(given);
  assert.equal(await accepted(() => alone.ask(), 60), 25);
  for (const who of ["early", "late"]) {
    const seconds = Number((await one.ask(who)).headers.get("retry-after"));
    clock.set(clock.now() + seconds * SECOND);
    assert.equal((await one.ask(who)).status, 200, who);
  }
  await closeRedis(client);
});

test("when Redis comes back empty, what went through without it still counts (P14)", async () => {
  let isAway = false;
  const shaky = new Proxy(redis, {
    get: (target, name) => (name === "isReady" ? !isAway : Reflect.get(target, name, target)),
  });
  const clock = fakeClock();
  const given = { clock, redis: shaky, name: `back-${names++}`, processes: () => 2 };
  const [a, b] = [instance(given), instance(given)];
  isAway = true;
  const alone = (await accepted(() => a.ask(), 60)) + (await accepted(() => b.ask(), 60));
  assert.equal(alone, LIMIT);
  isAway = false;
  const after = (await accepted(() => a.ask(), 60)) + (await accepted(() => b.ask(), 60));
  assert.equal(after, 0);
  clock.set(clock.now() + WINDOW_MS);
  assert.equal(await accepted(() => a.ask(), LIMIT), LIMIT);
});

test("more processes than requests: each lets one through", async () => {
  const few = instance({ clock: fakeClock(), limit: 3, processes: () => 8 });
  assert.equal(await accepted(() => few.ask(), 5), 1);
});

test("when Redis is emptied, this process still knows what it accepted", async () => {
  const own = await testRedis({ own: true });
  const client = await connected(own.url);
  const one = instance({ clock: fakeClock(), redis: client, name: "flushed" });
  await accepted(() => one.ask(), LIMIT);
  await client.flushAll();
  assert.equal(await accepted(() => one.ask(), 5), 0);
  await closeRedis(client);
  await own.close();
});

test("when Redis is emptied between two requests, each process lets its share through (P14)", async () => {
  const own = await testRedis({ own: true });
  const client = await connected(own.url);
  const clock = fakeClock();
  const given = { clock, redis: client, name: "emptied", processes: () => 2 };
  const [a, b] = [instance(given), instance(given)];
  const both = async (times: number): Promise<number> =>
    (await accepted(() => a.ask(), times)) + (await accepted(() => b.ask(), times));
  assert.equal(await both(50), LIMIT);
  clock.set(NOW + 10 * SECOND);
  await client.flushAll();
  assert.equal(await both(60), 0);
  clock.set(NOW + WINDOW_MS);
  // Redis counted the two that found it empty: stricter, never looser.
  assert.equal(await both(60), LIMIT - 2);
  clock.set(NOW + 2 * WINDOW_MS);
  assert.equal(await accepted(() => a.ask(), 120), LIMIT);
  await closeRedis(client);
  await own.close();
});

test("a Redis that does not answer costs a request 250 ms once, then nothing", async () => {
  const own = await testRedis({ own: true });
  const client = await connected(own.url);
  const blocker = await connected(own.url);
  const window = sharedWindow({
    name: "hanging",
    limit: LIMIT,
    windowMs: WINDOW_MS,
    clock: fakeClock(),
    redis: client,
  });
  await blocker.sendCommand(["CLIENT", "PAUSE", "20000", "ALL"]);
  const started = performance.now();
  const first = await window.take("one");
  const waited = performance.now() - started;
  assert.equal(first.countedBy, "process");
  assert.ok(waited >= 200 && waited < 250 + SLACK_MS, `${waited} ms`);
  const again = performance.now();
  for (let n = 0; n < 50; n++) await window.take("one");
  assert.ok(performance.now() - again < SLACK_MS);
  await closeRedis(blocker);
  await closeRedis(client);
  await own.close();
});

test("a foreign value under the key does not break the limit", async () => {
  const name = `foreign-${names++}`;
  await redis.set(`starboard:rate:${name}:{one}`, "not a list");
  const one = instance({ clock: fakeClock(), redis, name, limit: 3 });
  assert.equal(await accepted(() => one.ask(), 9), 3);
});

test("in any 60 s at most the limit is accepted, and one more whenever that leaves room (P14)", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 200 }),
      fc.integer({ min: 1, max: 8 }),
      (pauses, limit) => {
        const window = localWindow({ limit, windowMs: WINDOW_MS });
        const instants: number[] = [];
        let now = NOW;
        for (const pause of pauses) {
          now += pause;
          const recent = instants.filter((at) => now - at < WINDOW_MS).length;
          const verdict = window.take("x", now);
          assert.equal(verdict.accepted, recent < limit);
          if (!verdict.accepted) {
            now += verdict.waitMs;
            assert.equal(
              window.take("x", now).accepted,
              true,
              "a client that waits for Retry-After is accepted",
            );
          }
          instants.push(now);
        }
      },
    ),
    { numRuns: 200 },
  );
});

test("a process remembers 10,000 clients at most", () => {
  const window = localWindow({ limit: 1, windowMs: WINDOW_MS });
  for (let n = 0; n < 10_001; n++) window.take(`client ${n}`, NOW);
  assert.equal(window.take("client 10000", NOW).accepted, false);
  assert.equal(window.take("client 0", NOW).accepted, true, "the one idle longest is forgotten");
});

test("a window counts what was accepted between two instants", () => {
  const instant = fc.integer({ min: 0, max: WINDOW_MS - 1 });
  fc.assert(
    fc.property(fc.array(instant), instant, instant, (given, after, before) => {
      const window = localWindow({ limit: 1_000, windowMs: WINDOW_MS });
      const instants = given.toSorted((one, other) => one - other);
      for (const at of instants) window.take("client", at);
      const between = instants.filter((at) => at > after && at < before).length;
      assert.equal(window.count("client", after, before), between);
    }),
  );
  assert.equal(localWindow({ limit: 1, windowMs: WINDOW_MS }).count("unknown", 0, 1), 0);
});

test.run();
