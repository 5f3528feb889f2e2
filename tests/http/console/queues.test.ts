/**
 * Goal: operators see what the queues hold and retry what failed, through our own door alone, and
 * looking changes no key. Method: Bull Board over HTTP before a real Redis, asked as its page asks.
 */
import * as assert from "node:assert/strict";
import { createNodeRedisClient, Queue, Worker } from "bullmq";
import { createClient } from "redis";
import { suite } from "uvu";
import type { PageRequest } from "../../../src/http/console/page.ts";
import { openQueueBoard } from "../../../src/http/console/queue-board.ts";
import { queuesPage } from "../../../src/http/console/queue-board-routes.ts";
import { addOperator } from "../../../src/keys/operators.ts";
import { silentLogger } from "../../../src/log.ts";
import { openRewardsQueue } from "../../../src/upkeep/rewards-queue.ts";
import { until } from "../../support/processes.ts";
import { type Service, startService } from "../../support/service.ts";
import { CONSOLE, signInOperator, type Visitor } from "./browser-session.ts";

const BOARD = "/ops/queues/board";
const STAR = "01a1f8c0-0000-7000-8000-000000000001";

interface Context {
  service: Service;
  operator: Visitor;
  /** The feature that takes stars, as its queue is known to it. */
  rewards: Queue;
  connect: () => ReturnType<typeof createNodeRedisClient>;
  stops: (() => Promise<unknown>)[];
}

const test = suite<Context>("/ops/queues");

test.before(async (context) => {
  const service = await startService(CONSOLE);
  const stops = [() => service.close()];
  const connect = () => {
    const client = createClient({ url: service.redisUrl, maintNotifications: "disabled" });
    client.on("error", () => undefined);
    stops.unshift(async () => void (client.isOpen && client.destroy()));
    return createNodeRedisClient(client);
  };
  const rewards = new Queue("rewards", { connection: connect() });
  stops.unshift(() => rewards.close());
  const operator = await signInOperator(service);
  Object.assign(context, { service, operator, rewards, connect, stops });
});
test.after(async ({ stops }) => {
  for (const stop of stops) await stop();
});

/** What the page of Bull Board sends when one of its buttons is pressed. */
async function press(
  { service, operator }: Context,
  path: string,
  { method = "PUT", ...headers }: Record<string, string> = {},
): Promise<Response> {
  const own = { cookie: operator.cookie, "sec-fetch-site": "same-origin" };
  return fetch(service.url + BOARD + path, { method, headers: { ...own, ...headers } });
}

/** The operator log's lines about queues, oldest first, without their sentences. */
async function logged({ service }: Context): Promise<readonly string[]> {
  const rows = await service.sql<{ line: string }[]>`
    select concat_ws(' ', phase, operator, action, subject) as line from operator_log
    where action like 'queues.%' order by id`;
  return rows.map(({ line }) => line);
}

async function failedJob({ rewards, connect }: Context, id: string): Promise<void> {
  const worker = new Worker("rewards", () => Promise.reject(new Error("no such quest")), {
    connection: connect(),
  });
  await rewards.add("star", { starId: id }, { jobId: id });
  await until("it has failed", async () => (await rewards.getJobState(id)) === "failed");
  await worker.close();
}

test("the navigation leads to the queues, these to Bull Board, and that leads back", async ({
  operator,
}) => {
  assert.match((await operator.get("/ops")).text, /href="\/ops\/queues">Queues</);
  assert.match((await operator.get("/ops/queues")).text, /href="\/ops\/queues\/board">Open/);
  const board = await operator.get(BOARD);
  assert.equal(board.status, 200);
  assert.match(board.text, /"url":"\/ops\/queues"/);
  assert.equal((await operator.get(`${BOARD}/`)).status, 200);
});

test("its page loads nothing from elsewhere, and its policy would let nothing in", async ({
  operator,
}) => {
  const { text, headers } = await operator.get(`${BOARD}/queue/rewards`);
  const loaded = [...text.matchAll(/<(?:link|script)[^>]*(?:href|src)="([^"]*)"/g)];
  assert.ok(loaded.length > 3);
  for (const [, address = ""] of loaded) assert.match(address, /^static\//);
  const policy = headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.equal(headers.get("cache-control"), "no-store");
  const [, script = ""] = /src="(static\/js\/main[^"]+)"/.exec(text) ?? [];
  const file = await operator.get(`${BOARD}/${script}`);
  assert.equal(file.status, 200);
  assert.match(file.headers.get("content-type") ?? "", /javascript/);
  assert.match(
    (await operator.get("/ops/queues")).headers.get("content-security-policy") ?? "",
    /style-src 'self';/,
    "the laxer policy is of that mount alone",
  );
});

test("looking shows all queues, hides what is secret by its name, and changes no key", async ({
  service,
  operator,
  rewards,
}) => {
  await rewards.add("star", { wallet: "0.0.1001", apiKey: "hush" }, { jobId: "secret-1" });
  const client = await createClient({ url: service.redisUrl }).connect();
  const stored = async () => {
    const keys = (await client.keys("*bull*")).concat(await client.keys("{starboard}*")).sort();
    return Promise.all(keys.map(async (key) => [key, await client.sendCommand(["DUMP", key])]));
  };
  const before = await stored();
  const all = await operator.get(`${BOARD}/api/queues?activeQueue=rewards&status=waiting&page=1`);
  const { queues } = JSON.parse(all.text);
  assert.deepEqual(
    queues.map((queue: { name: string; readOnlyMode: boolean }) => [
      queue.name,
      queue.readOnlyMode,
    ]),
    [
      ["publishing", true],
      ["rewards", false],
    ],
  );
  const [job] = queues[1].jobs;
  assert.deepEqual(job.data, { wallet: "0.0.1001", apiKey: "(hidden)" });
  assert.doesNotMatch((await operator.get(`${BOARD}/api/queues/rewards/secret-1`)).text, /hush/);
  assert.deepEqual(await stored(), before);
  client.destroy();
  await rewards.remove("secret-1");
});

test("what the page asks by itself keeps no session alive; who opens it is there", async ({
  service,
  operator,
}) => {
  await service.sql`update operator_session set used_at = used_at - 120000`;
  const usedAt = async () =>
    (await service.sql`select max(used_at) as at from operator_session`)[0];
  const before = await usedAt();
  assert.equal((await operator.get(`${BOARD}/api/queues`)).status, 200);
  assert.deepEqual(await usedAt(), before);
  assert.equal((await operator.get(BOARD)).status, 200);
  assert.notDeepEqual(await usedAt(), before);
});

test("guests, voters and bearers see the sign-in, and change nothing", async (context) => {
  const { service } = context;
  const authorization = `Bearer ${CONSOLE.OPERATOR_TOKEN}`;
  for (const path of ["", "/api/queues", "/static/images/logo.svg"]) {
    const reply = await fetch(service.url + BOARD + path, { headers: { authorization } });
    assert.equal(reply.status, 401, path);
    assert.match(await reply.text(), /<h1>Sign in<\/h1>/);
  }
  await failedJob(context, STAR);
  const reply = await press(context, `/api/queues/rewards/${STAR}/retry`, { cookie: "" });
  assert.equal(reply.status, 401);
  assert.equal(await context.rewards.getJobState(STAR), "failed");
  assert.deepEqual(await logged(context), []);
});

test("a failed job is retried, by a page of ours alone, and the log has its lines", async (context) => {
  const { rewards } = context;
  const path = `/api/queues/rewards/${STAR}/retry`;
  for (const foreign of [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
  ]) {
    assert.equal((await press(context, path, foreign)).status, 403, foreign["sec-fetch-site"]);
  }
  assert.equal(await rewards.getJobState(STAR), "failed");
  assert.deepEqual(await logged(context), []);

  assert.equal((await press(context, path)).status, 204);
  assert.equal(await rewards.getJobState(STAR), "waiting");
  const lines = ["started", "done"].map(
    (phase) => `${phase} environment (Ada) queues.retry rewards/${STAR}`,
  );
  assert.deepEqual(await logged(context), lines);

  assert.equal((await press(context, path)).status, 400, "it waits already");
  assert.equal(
    (await logged(context)).at(-1),
    `failed environment (Ada) queues.retry rewards/${STAR}`,
  );
  await rewards.remove(STAR);
});

test("all that failed is retried at once", async (context) => {
  await failedJob(context, "one");
  await failedJob(context, "two");
  const reply = await press(context, "/api/queues/rewards/retry/failed");
  assert.deepEqual(await reply.json(), { retried: 2, skipped: 0 });
  assert.equal(
    (await logged(context)).at(-1),
    "done environment (Ada) queues.retry-failed rewards",
  );
  await context.rewards.drain();
});

test("a finished job is not retried, not even by its address", async (context) => {
  const { rewards, connect } = context;
  const consumer = new Worker("rewards", async () => undefined, { connection: connect() });
  await rewards.add("star", {}, { jobId: "done" });
  await until("it is done", async () => (await rewards.getJobState("done")) === "completed");
  await consumer.close();
  const reply = await press(context, "/api/queues/rewards/done/retry");
  assert.ok(!reply.ok, String(reply.status));
  assert.equal(await rewards.getJobState("done"), "completed");
  assert.equal(
    (await logged(context)).at(-1),
    "failed environment (Ada) queues.retry rewards/done",
  );
  await rewards.remove("done");
});

test("what fills, empties or stops a queue is refused", async (context) => {
  const { rewards } = context;
  await rewards.add("star", {}, { jobId: "kept" });
  const before = await logged(context);
  const acts = [
    ...["pause", "empty", "obliterate", "clean/waiting", "kept/clean", "concurrency"],
    ...["retry/completed", "promote"],
    // Bull Board reads these as acts on the whole queue, in whichever spelling.
    ...["clean/retry", "retry/retry", "clean/promote", "cle%61n/retry", "r%65try/promote"],
  ];
  for (const act of acts) {
    const reply = await press(context, `/api/queues/rewards/${act}`);
    assert.equal(reply.status, 403, act);
    assert.match(((await reply.json()) as { error: string }).error, /jobs are retried/);
  }
  const added = await press(context, "/api/queues/rewards/add", { method: "POST" });
  assert.equal(added.status, 403);
  const moved = await press(context, "/api/queues/rewards/kept/update-data", { method: "PATCH" });
  assert.equal(moved.status, 403);
  assert.equal((await press(context, "/api/queues/publishing/x/retry")).status, 405);
  assert.equal(await rewards.getJobState("kept"), "waiting");
  assert.equal(await rewards.isPaused(), false);
  assert.deepEqual((await logged(context)).slice(before.length), [
    "started environment (Ada) queues.retry publishing/x",
    "failed environment (Ada) queues.retry publishing/x",
  ]);
  await rewards.remove("kept");
});

for (const role of ["viewer", "operator"] as const) {
  test(`the role ${role} sees the queues and retries nothing: that is for admins`, async (context) => {
    const { token } = await addOperator(context.service.sql, { name: `Vera ${role}`, role });
    const visitor = { ...context, operator: await signInOperator(context.service, "", token) };
    const queues = await visitor.operator.get(`${BOARD}/api/queues`);
    const listed: { readOnlyMode: boolean }[] = JSON.parse(queues.text).queues;
    assert.deepEqual([...new Set(listed.map(({ readOnlyMode }) => readOnlyMode))], [true]);
    const before = await logged(context);
    assert.equal((await press(visitor, "/api/queues/rewards/retry/failed")).status, 403);
    assert.deepEqual(await logged(context), before);
  });
}

test("what no queue can be asked with is refused, and no fault of the service", async (context) => {
  const odd = ["page=1e20", "page=1&page=1e20", "jobsPerPage=1e20", "page=-1", "jobsPerPage=301"];
  for (const query of odd) {
    const path = `/api/queues?activeQueue=rewards&status=completed&${query}`;
    assert.equal((await press(context, path, { method: "GET" })).status, 400, query);
  }
  const largest = `${"9".repeat(6)}&jobsPerPage=300`;
  const asked = `/api/queues?activeQueue=rewards&status=completed&page=${largest}`;
  assert.equal((await press(context, asked, { method: "GET" })).status, 200);
  assert.equal((await press(context, "/api/queues/rewards/%00/retry")).status, 403);
});

test("where BullMQ has no Redis, the page says so", async () => {
  const shown = await queuesPage({ board: undefined }).show({} as PageRequest);
  assert.ok(!(shown instanceof Response));
  assert.match(`${await shown.body}`, /this Redis is not fit for BullMQ/);
  assert.doesNotMatch(`${await shown.body}`, /queues\/board/);
});

test("queues that do not answer are given up in a sentence, and found when they are back", async ({
  service,
}) => {
  let isThere = false;
  const board = openQueueBoard(service.redisUrl, () => isThere);
  const ask = () => board.answer(new Request(`http://console${BOARD}/api/queues`), true);
  await assert.rejects(ask(), { code: "UNAVAILABLE" });
  isThere = true;
  assert.equal((await ask()).status, 200);
  await board.close();
  const gone = openQueueBoard("redis://127.0.0.1:1", () => true);
  await assert.rejects(gone.answer(new Request(`http://console${BOARD}`), true), {
    code: "UNAVAILABLE",
  });
  await gone.close();
});

test("a job of the hand-off is found by its star", async ({ service, operator }) => {
  const rewards = openRewardsQueue(service.redisUrl, silentLogger);
  await rewards.ready();
  const target = { type: "event", id: "meetup" } as const;
  const at = "2026-11-20T08:00:00.000Z";
  await rewards.offer([{ starId: STAR, wallet: "0.0.1001", target, at, day: "2026-11-20" }]);
  const { text } = await operator.get(`${BOARD}/api/queues/rewards/${STAR}`);
  assert.equal(JSON.parse(text).job.data.wallet, "0.0.1001");
  assert.equal(JSON.parse(text).status, "waiting");
  await rewards.close();
});

test.run();
