/** What all of `/voting` has in common: CORS, methods, query parameters, the rate limit's place. */
import * as assert from "node:assert/strict";
import { Hono } from "hono";
import { test } from "uvu";
import { createApp } from "../../../src/http/app.ts";
import { rateLimit } from "../../../src/http/middleware/rate-limit.ts";
import { votingApi } from "../../../src/http/voting/api.ts";
import { type VotingDeps, votingRoutes } from "../../../src/http/voting/routes.ts";
import { sessionTokens } from "../../../src/http/voting/session-token.ts";
import { silentLogger } from "../../../src/log.ts";
import { createMetrics } from "../../../src/metrics.ts";
import { bodyOf, fakeClock } from "../v1/house.ts";

const ORIGIN = "https://stars.example";
const TOKEN = "t".repeat(43);

/** The voting API over use cases that do nothing: each test asks what comes before them. */
function build(limit = 1_000): Hono {
  const clock = fakeClock();
  const tokens = sessionTokens(ORIGIN, [ORIGIN]);
  const findSession = async () => "0.0.1001";
  const useCases = { clock, network: "local", config: { publicUrl: ORIGIN }, tokens, findSession };
  const voting = votingApi({
    origins: [ORIGIN],
    limit: rateLimit({
      name: "voting",
      limit,
      windowMs: 60_000,
      code: "RATE_LIMITED",
      client: () => "one",
      clock,
    }),
    // The use cases that these requests reach, and no others.
    operations: votingRoutes(useCases as unknown as VotingDeps),
    live: new Hono().get("/live", (c) => c.text("live")),
  });
  const mounts = [{ path: "/voting", app: voting }];
  return createApp({ log: silentLogger, metrics: createMetrics(), mounts });
}

const ask = (app: Hono, line: string, headers: Record<string, string> = {}) => {
  const [method = "GET", path = "/"] = line.split(" ");
  return app.request(`/voting${path}`, { method, headers });
};

test("an origin that is listed may read replies, another may not, and neither gets `*`", async () => {
  const app = build();
  const allowed = await ask(app, "GET /live", { Origin: ORIGIN });
  assert.equal(allowed.headers.get("access-control-allow-origin"), ORIGIN);
  assert.equal(allowed.headers.get("access-control-allow-credentials"), null);
  assert.equal(
    allowed.headers.get("access-control-expose-headers"),
    "Idempotent-Replayed,Retry-After,RateLimit,RateLimit-Policy",
  );
  const other = await ask(app, "GET /live", { Origin: "https://other.example" });
  assert.equal(other.headers.get("access-control-allow-origin"), null);
  const preflight = await ask(app, "OPTIONS /stars", {
    Origin: ORIGIN,
    "Access-Control-Request-Method": "POST",
  });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get("access-control-allow-methods"), "GET,POST,DELETE");
  assert.equal(
    preflight.headers.get("access-control-allow-headers"),
    "Authorization,Content-Type,Idempotency-Key,Last-Event-ID",
  );
});

test("OPTIONS that is no preflight is counted and refused as any other method, with an origin or not", async () => {
  const app = build(2);
  for (const headers of [{ Origin: ORIGIN }, {}]) {
    const refused = await ask(app, "OPTIONS /stars", headers);
    assert.deepEqual(
      [refused.status, refused.headers.get("allow"), refused.headers.get("vary")],
      [405, "GET, HEAD, POST", "Origin"],
    );
  }
  assert.equal((await ask(app, "OPTIONS /stars", { Origin: ORIGIN })).status, 429);
  const { status, headers } = await ask(app, "GET /live", { Origin: ORIGIN });
  assert.deepEqual([status, headers.get("access-control-allow-origin")], [429, ORIGIN]);
});

test("a request without an origin gets no CORS headers, and caches learn that they vary", async () => {
  const { headers } = await ask(build(), "GET /live");
  const cors = [...headers.keys()].filter((name) => name.startsWith("access-control-"));
  assert.deepEqual([cors, headers.get("vary")], [[], "Origin"]);
});

test("405 with `Allow` for every other method, before session and query are looked at", async () => {
  const app = build();
  const allowed = {
    "/openapi.json": "GET, HEAD",
    "/config": "GET, HEAD",
    "/items": "GET, HEAD",
    "/challenges": "POST",
    "/sessions": "DELETE, POST",
    "/sessions/current": "DELETE",
    "/allowance": "GET, HEAD",
    "/preview": "GET, HEAD",
    "/stars": "GET, HEAD, POST",
    "/stars/0198f2a0-0000-7000-8000-000000000000": "GET, HEAD",
    "/live": "GET, HEAD",
  };
  for (const [path, allow] of Object.entries(allowed)) {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"]) {
      if (allow.split(", ").includes(method)) continue;
      const reply = await ask(app, `${method} ${path}?x=1`);
      const { code } = await bodyOf(reply);
      assert.deepEqual(
        [reply.status, reply.headers.get("allow"), code],
        [405, allow, "METHOD_NOT_ALLOWED"],
        `${method} ${path}`,
      );
    }
  }
  assert.equal((await ask(app, "PUT /nothing")).status, 404);
});

test("400 INVALID_REQUEST naming a query parameter that an operation does not have", async () => {
  const app = build();
  const headers = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" };
  for (const line of [
    "GET /config?x=1",
    "GET /items?type=event&x=1",
    "POST /challenges?x=1",
    "POST /sessions?x=1",
    "DELETE /sessions/current?x=1",
    "GET /allowance?x=1",
    "GET /preview?type=event&id=e&x=1",
    "POST /stars?x=1",
    "GET /stars?day=2026-11-20&x=1",
    "GET /stars/0198f2a0-0000-7000-8000-000000000000?x=1",
  ]) {
    const reply = await ask(app, line, headers);
    const { code, field } = await bodyOf(reply);
    assert.deepEqual([reply.status, code, field], [400, "INVALID_REQUEST", "x"], line);
  }
});

test("a missing session is refused before an unknown query parameter", async () => {
  const replies = ["GET /allowance?x=1", "POST /stars?x=1"].map((line) => ask(build(), line));
  for (const reply of await Promise.all(replies)) {
    assert.deepEqual([reply.status, (await bodyOf(reply)).code], [401, "MISSING_SESSION"]);
  }
});

test("a refused method counts for the rate limit", async () => {
  const app = build(1);
  assert.equal((await ask(app, "PUT /live")).status, 405);
  assert.equal((await ask(app, "GET /live")).status, 429);
});

test.run();
