/**
 * Goal: operators see what the queues hold on either backend, and looking changes no key. Method:
 * the pages over HTTP on Redis; on Postgres the same pages with a reader of that backend.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import type { PageRequest } from "../../../src/http/console/page.ts";
import { queuePage } from "../../../src/http/console/pages/queue.ts";
import { queuesPage } from "../../../src/http/console/pages/queues.ts";
import { silentLogger } from "../../../src/log.ts";
import { connectQueues } from "../../../src/store/queue-connection.ts";
import { openQueueReader, type QueueReader } from "../../../src/store/queue-reader.ts";
import { closeRedis, openRedis } from "../../../src/store/redis.ts";
import { openRewardsQueue } from "../../../src/upkeep/rewards-queue.ts";
import { until } from "../../support/processes.ts";
import { type Service, startService } from "../../support/service.ts";
import { CONSOLE, signInOperator, type Visitor } from "./browser-session.ts";

interface Context {
  service: Service;
  operator: Visitor;
}

const STAR = "01a1f8c0-0000-7000-8000-0000000000";
const test = suite<Context>("/ops/queues");

test.before(async (context) => {
  const service = await startService(CONSOLE);
  Object.assign(context, { service, operator: await signInOperator(service) });
});
test.after(({ service }) => service.close());

test("on Redis: counts, jobs by state with pages, one job; no key changes", async ({
  service,
  operator,
}) => {
  const redis = openRedis(service.redisUrl, silentLogger);
  const rewards = openRewardsQueue(service.redisUrl, silentLogger);
  await rewards.ready();
  const target = { type: "event", id: "meetup" } as const;
  const offer = { wallet: "0.0.1001", target, at: "2026-11-20T08:00:00.000Z", day: "2026-11-20" };
  const stars = Array.from({ length: 30 }, (_, n) => `${STAR}${String(n).padStart(2, "0")}`);
  await rewards.offer(stars.map((starId) => ({ ...offer, starId })));
  await until("Redis is there", () => redis.isReady);
  const keys = async () => (await redis.keys("*bull*")).sort();
  const before = await keys();

  const all = await operator.get("/ops/queues");
  assert.match(all.text, /live in Redis/);
  assert.match(all.text, /state=waiting"><strong>30<\/strong> waiting/);
  assert.match(all.text, /none, and jobs wait/);
  const first = await operator.get("/ops/queues/rewards");
  assert.ok(first.text.includes(`title="${STAR}29"`) && !first.text.includes(`title="${STAR}04"`));
  assert.match(first.text, /1–25 of 30/);
  const rest = await operator.get("/ops/queues/rewards?state=waiting&skip=25");
  assert.ok(rest.text.includes(`title="${STAR}04"`) && !rest.text.includes(`title="${STAR}05"`));
  const failed = await operator.get("/ops/queues/rewards?state=failed");
  assert.match(failed.text, /No job has failed/);
  const job = await operator.get(`/ops/queues/rewards/${STAR}04`);
  assert.match(job.text, /&quot;wallet&quot;: &quot;0\.0\.1001&quot;/);
  assert.match(job.text, /0 of 10/);

  assert.deepEqual(await keys(), before);
  assert.deepEqual(await redis.keys("{starboard}*"), []);
  await rewards.close();
  await closeRedis(redis);
});

test("what is not there is said to be missing, what makes no sense is refused", async ({
  operator,
}) => {
  const statusOf = async (path: string) => (await operator.get(`/ops/queues${path}`)).status;
  assert.equal(await statusOf("/nothing"), 404);
  assert.equal(await statusOf("/rewards/nobody"), 404);
  assert.equal(await statusOf("/rewards?state=lost"), 400);
  assert.equal(await statusOf("/rewards?skip=-1"), 400);
  assert.equal(await statusOf("/upkeep/repeat%3Aholdings-check%3A1"), 404);
});

/** A page as text. */
async function shown(page: ReturnType<typeof queuePage>, rest = "", query = ""): Promise<string> {
  const request = { rest, query: new URLSearchParams(query), now: Date.now() };
  const found = await page.show(request as PageRequest);
  assert.ok(!(found instanceof Response));
  return `${found.title} ${await found.body}`;
}

test("on Postgres: the same, and rewards are told to be elsewhere", async ({ service }) => {
  const backend = { postgresUrl: service.databaseUrl };
  const connect = connectQueues(backend, { onError: (error) => assert.fail(String(error)) });
  const queue = connect.queue("publishing");
  await queue.add("wake", { n: 1, accessToken: "hush" }, { jobId: "early" });
  await queue.add("wake", { n: 2 }, { jobId: "late", delay: 3_600_000 });
  const reader = openQueueReader({ backend, isThere: () => true });
  const all = await shown(queuesPage({ queues: reader }));
  assert.match(all, /live in Postgres/);
  assert.match(all, /rewards need a Redis/);
  assert.match(all, /publishing\?state=waiting"><strong>1<\/strong> waiting/);
  assert.match(all, /publishing\?state=delayed"><strong>1<\/strong> for later/);
  const page = queuePage({ queues: reader });
  assert.match(await shown(page, "publishing", "state=delayed"), /in 60 min/);
  const job = await shown(page, "publishing/early");
  assert.match(job, /&quot;accessToken&quot;: &quot;\(hidden\)&quot;/);
  assert.doesNotMatch(job, /hush/);
  await reader.close();
  await queue.close();
  connect.cut();
});

test("queues that do not answer are told, with what that means", async () => {
  const queues: QueueReader = openQueueReader({
    backend: { redisUrl: "redis://127.0.0.1:1" },
    isThere: () => false,
  });
  assert.match(await shown(queuesPage({ queues })), /The queues do not answer just now/);
  assert.match(await shown(queuePage({ queues }), "rewards"), /do not answer/);
  assert.match(await shown(queuePage({ queues }), "rewards/1"), /do not answer/);
  await queues.close();
});

test.run();
