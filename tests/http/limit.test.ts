/**
 * Goal: a client that asks too much of a web process gets Retry-After, and operators see it; pages,
 * public API and voting API count apart, each by its setting.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { bounds } from "../../src/bounds.ts";
import { until } from "../support/processes.ts";
import { type Service, send, startService } from "../support/service.ts";
import { SLACK_MS } from "../support/slack.ts";

const OPERATOR_TOKEN = "operator-token-of-the-limit-test";

let service: Service;
test.before(async () => {
  // Limits of all processes together need Redis' answer; `middleware/rate-limit.test.ts` holds how long
  // one is waited for.
  Object.assign(bounds, { limitDeadlineMs: bounds.limitDeadlineMs + SLACK_MS });
  service = await startService({ VOTING_RATE_LIMIT: "2", OPERATOR_TOKEN });
  await hasRedis(service);
});
test.after(() => service.close());

/** A process connects to Redis beside its start, and counts alone until then. */
async function hasRedis(web: Pick<Service, "url">): Promise<void> {
  const redisOf = async () => (await send(web, "GET /readyz")).body.dependencies.redis;
  await until("its Redis answers", async () => (await redisOf()) === "ok");
}

test("a page beyond the limit is refused in words, with a time, and counted", async () => {
  const page = () => send(service, "GET /no-such-page", { headers: { accept: "text/html" } });
  assert.equal((await page()).status, 404);
  assert.equal((await page()).status, 404);
  const { status, headers, text } = await page();
  assert.equal(status, 429);
  assert.match(text, /<html/);
  // A refused visitor may be signed in: the session was not looked at.
  assert.doesNotMatch(text, /Sign in/);
  const seconds = Number(headers.get("retry-after"));
  assert.ok(seconds >= 1 && seconds <= 60, String(seconds));
  const metrics = await send(service, "GET /metrics", { token: OPERATOR_TOKEN });
  assert.match(metrics.text, /starboard_http_rate_limited_total\{limit="pages",[^}]*\} 1$/m);
});

test("429 without a code: a client has 100 requests of the public API, unless set otherwise", async () => {
  const asked = Array.from({ length: 101 }, () => send(service, "GET /v1"));
  const replies = await Promise.all(asked);
  const refused = replies.filter(({ status }) => status !== 200);
  assert.deepEqual(
    refused.map(({ status, body }) => [status, Object.keys(body)]),
    [[429, ["error"]]],
  );
  for (const { headers } of replies) {
    assert.equal(headers.get("ratelimit-policy"), '"ip";q=100;w=60');
  }
  assert.match(refused[0]?.headers.get("retry-after") ?? "", /^[1-9]\d?$/);
  const other = await service.another();
  await hasRedis(other);
  assert.equal((await send(other, "GET /v1/openapi.json")).status, 429, "all processes together");
});

test("429 RATE_LIMITED: the voting API counts by VOTING_RATE_LIMIT, apart from all else", async () => {
  const statuses = [];
  for (const path of ["config", "items?type=token"]) {
    statuses.push((await send(service, `GET /voting/${path}`)).status);
  }
  assert.deepEqual(statuses, [200, 200]);
  const { status, headers, body } = await send(service, "POST /voting/stars");
  assert.deepEqual([status, body.code], [429, "RATE_LIMITED"]);
  assert.match(headers.get("retry-after") ?? "", /^[1-9]\d?$/);
});

test.run();
