/** What every request has in common: an id, one line in the log, safe headers, a JSON error. */
import * as assert from "node:assert/strict";
import { type Handler, Hono } from "hono";
import { pino } from "pino";
import { test } from "uvu";
import { RetryableError, TerminalError } from "../../src/errors.ts";
import { createApp } from "../../src/http/app.ts";
import { problem } from "../../src/http/problem.ts";
import { silentLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { bodyOf, openHouse } from "./v1/house.ts";

const SECRET = "canary-5d1f";

function build(handler: Handler, log = silentLogger) {
  const metrics = createMetrics();
  const app = createApp({
    log,
    metrics,
    mounts: [{ path: "/part", app: new Hono().get("/:id", handler) }],
  });
  return { app, metrics };
}

/** A logger whose lines the test can read. */
function listening() {
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: "info" },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  return { lines, log };
}

test("404 NOT_FOUND: a path that nothing answers", async () => {
  const { app } = build((c) => c.text("ok"));
  for (const path of ["/", "/v2/events", "/part", "/part/", "//part/1", "/%zz"]) {
    const response = await app.request(path);
    assert.equal(response.status, 404, path);
    assert.equal((await bodyOf(response)).code, "NOT_FOUND");
  }
});

test("500 INTERNAL: a fault of ours is logged with its stack and not shown", async () => {
  const { lines, log } = listening();
  const { app } = build(() => {
    throw new Error(`select * from ${SECRET} at /srv/${SECRET}.ts`);
  }, log);
  const response = await app.request("/part/1");
  assert.equal(response.status, 500);
  const text = await response.text();
  assert.deepEqual(Object.keys(JSON.parse(text)), ["error", "code"]);
  assert.equal(JSON.parse(text).code, "INTERNAL");
  assert.doesNotMatch(text, new RegExp(SECRET));
  const fault = lines.find(({ msg }) => msg === "request failed");
  assert.match(JSON.stringify(fault), new RegExp(SECRET));
  assert.equal(fault?.requestId, response.headers.get("x-request-id"));
});

test("503: a passing failure says when to come back, and nothing of its cause", async () => {
  const { app } = build(() => {
    throw new RetryableError("HOLDINGS_UNAVAILABLE", `${SECRET} refused`, 2.5, new Error(SECRET));
  });
  const response = await app.request("/part/1");
  assert.equal(response.status, 503);
  assert.equal(response.headers.get("retry-after"), "3");
  const text = await response.text();
  assert.equal(JSON.parse(text).code, "HOLDINGS_UNAVAILABLE");
  assert.doesNotMatch(text, new RegExp(SECRET));
});

test("503: a sentence for the caller replaces the standard one", async () => {
  const { app } = build(() => {
    throw new RetryableError("HOLDINGS_UNAVAILABLE", SECRET, 0, undefined, "Too many NFTs.");
  });
  const response = await app.request("/part/1");
  assert.equal(response.headers.get("retry-after"), "1");
  const body = await response.json();
  assert.deepEqual(body, { error: "Too many NFTs.", code: "HOLDINGS_UNAVAILABLE" });
});

test("a terminal error shows its own sentence and its details", async () => {
  const { app } = build(() => {
    throw new TerminalError("INVALID_REQUEST", "day must be a date", { field: "day" });
  });
  const response = await app.request("/part/1");
  assert.equal(response.status, 400);
  assert.deepEqual(await bodyOf(response), {
    error: "day must be a date",
    code: "INVALID_REQUEST",
    field: "day",
  });
});

test("every code has its status", async () => {
  const statuses = {
    ALREADY_STARRED: 409,
    ALLOWANCE_EXHAUSTED: 429,
    CHALLENGE_EXPIRED: 410,
    HOLDINGS_UNAVAILABLE: 503,
    IDEMPOTENCY_KEY_REUSED: 422,
    INTERNAL: 500,
    INVALID_API_KEY: 401,
    INVALID_PARAMETER: 400,
    INVALID_REQUEST: 400,
    INVALID_SESSION: 401,
    INVALID_SIGNATURE: 401,
    MISSING_API_KEY: 401,
    MISSING_SESSION: 401,
    NOT_FOUND: 404,
    PAYLOAD_TOO_LARGE: 413,
    RATE_LIMITED: 429,
    REVOKED_API_KEY: 401,
    UNAVAILABLE: 503,
    UNKNOWN_WALLET: 404,
    UNSUPPORTED_KEY: 422,
    UNSUPPORTED_MEDIA_TYPE: 415,
  } as const;
  for (const [code, status] of Object.entries(statuses)) {
    const { app } = build((c) => problem(c, code as keyof typeof statuses));
    const response = await app.request("/part/1");
    assert.equal(response.status, status, code);
    assert.equal((await bodyOf(response)).code, code);
    assert.equal(response.headers.get("www-authenticate"), status === 401 ? "Bearer" : null);
    assert.equal(response.headers.has("retry-after"), status === 503);
    assert.equal(response.headers.get("cache-control"), "no-store");
  }
});

test("replies carry safe headers; a page's own policy stands", async () => {
  const { app } = build((c) => {
    if (c.req.param("id") === "page") c.header("Content-Security-Policy", "script-src 'self'");
    return new Response("raw");
  });
  const { headers } = await app.request("/part/1");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  assert.equal(headers.get("strict-transport-security"), "max-age=31536000");
  assert.equal(headers.get("referrer-policy"), "no-referrer");
  assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'/);
  const { app: other } = build((c) =>
    c.html("<p>", 200, { "Content-Security-Policy": "script-src 'self'" }),
  );
  const page = await other.request("/part/page");
  assert.equal(page.headers.get("content-security-policy"), "script-src 'self'");
});

test("a request keeps the id that a proxy gave it where that is short and plain", async () => {
  const { app } = build((c) => c.text("made"));
  const idFor = async (given: string) =>
    (await app.request("/part/1", { headers: { "X-Request-Id": given } })).headers.get(
      "x-request-id",
    );
  for (const given of ["0f-_=Z", "x".repeat(255)]) assert.equal(await idFor(given), given);
  for (const given of ["x".repeat(256), "a b", "a;b", "\u001b[1m"])
    assert.match((await idFor(given)) ?? "", /^[0-9a-f-]{36}$/);
});

test("one line per request: method, path, status, time and id, never a query or a header", async () => {
  const { lines, log } = listening();
  const house = await openHouse({ log });
  await house.get(`/events?source=${SECRET}`, { Cookie: SECRET, "X-Request-Id": "given-1" });
  await house.app.request(`/v1/tokens/top?api_key=${house.key}`);
  await house.app.request(`/v1/${"x".repeat(5_000)}`);
  await house.app.request(`/v1/events/${house.key}/x`);
  await house.close();
  assert.equal(lines.length, 4);
  const [first, second, third, fourth] = lines;
  assert.equal(first?.path, "/v1/events");
  assert.equal(first?.status, 400);
  assert.equal(first?.method, "GET");
  assert.equal(first?.requestId, "given-1");
  assert.equal(typeof first?.ms, "number");
  assert.match(String(second?.keyId), /^[0-9a-f-]{36}$/, "the caller can be identified");
  assert.ok(String(third?.path).length <= 200);
  assert.equal(fourth?.path, "/v1/events/starboard_live_…/x");
  const everything = JSON.stringify(lines);
  assert.doesNotMatch(everything, new RegExp(SECRET));
  assert.ok(!everything.includes(house.key));
});

test("requests are measured by route pattern, so that clients cannot make series", async () => {
  const metrics = createMetrics();
  const answer: Handler = (c) => c.text("ok");
  const pass: Handler = (_, next) => next();
  const part = new Hono().use(pass).get("/", answer).get("/:id", answer).get("/files/*", answer);
  const mounts = [
    { path: "/part", app: part },
    // As the console and the pages have it: what answers where nothing is.
    { path: "/part", app: new Hono().all("/*", pass) },
    { path: "/", app: new Hono().get("*", pass) },
  ];
  const app = createApp({ log: silentLogger, metrics, mounts });
  for (let n = 0; n < 5; n++) await app.request(`/part/${n}`);
  for (const path of ["/part", "/part/files/a/b"]) await app.request(path);
  for (let n = 0; n < 5; n++) await app.request(`/none/${n}`);
  const text = await metrics.registry.metrics();
  assert.match(
    text,
    /request_duration_seconds_count\{method="GET",route="\/part\/:id",status="200"\} 5/,
  );
  assert.match(text, /request_duration_seconds_count\{method="GET",route="none",status="404"\} 5/);
  for (const route of ["/part", "/part/files/*"]) {
    assert.ok(text.includes(`count{method="GET",route="${route}",status="200"} 1`), route);
  }
});

test.run();
