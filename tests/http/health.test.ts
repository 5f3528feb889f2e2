/** /healthz, /readyz and /metrics: for the people who run the process. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { createApp } from "../../src/http/app.ts";
import {
  checkPostgres,
  checkRedis,
  type DependencyCheck,
  healthRoutes,
} from "../../src/http/health.ts";
import { operatorAccess } from "../../src/http/operator-access.ts";
import { silentLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { closeRedis, openRedis } from "../../src/store/redis.ts";
import { testDatabase } from "../support/postgres.ts";
import { testRedis } from "../support/redis.ts";
import { bodyOf } from "./v1/house.ts";

const TOKEN = "operator-token-of-the-tests";

function build(
  given: {
    dependencies?: Record<string, DependencyCheck>;
    draining?: boolean;
    token?: string;
  } = {},
) {
  const metrics = createMetrics();
  const health = healthRoutes({
    log: silentLogger,
    metrics,
    dependencies: given.dependencies ?? {},
    isDraining: () => given.draining ?? false,
    access: operatorAccess({
      operatorToken: given.token,
      findOperator: () => Promise.resolve(null),
      clock: { now: () => Date.now() },
      client: () => "one",
      log: silentLogger,
      metrics,
    }),
    refreshMetrics: async () => metrics.publishingPending.set(42),
  });
  return createApp({ log: silentLogger, metrics, mounts: [{ path: "/", app: health }] });
}

const always =
  (state: "ok" | "degraded" | "down"): DependencyCheck =>
  async () =>
    state;

test("/healthz: 200 while the process is up, drained or not", async () => {
  const response = await build({ draining: true, dependencies: { a: always("down") } }).request(
    "/healthz",
  );
  assert.equal(response.status, 200);
});

test("/readyz: 200 with each dependency, one that is merely missed included", async () => {
  const app = build({ dependencies: { postgres: always("ok"), redis: always("degraded") } });
  const response = await app.request("/readyz");
  assert.equal(response.status, 200);
  assert.deepEqual(await bodyOf(response), {
    status: "ok",
    dependencies: { postgres: "ok", redis: "degraded" },
  });
});

test("/readyz: 503 when a dependency is down", async () => {
  const app = build({ dependencies: { postgres: always("down"), redis: always("ok") } });
  const response = await app.request("/readyz");
  assert.equal(response.status, 503);
  const body = await bodyOf(response);
  assert.equal(body.code, "UNAVAILABLE");
  assert.deepEqual(body.dependencies, { postgres: "down", redis: "ok" });
});

test("/readyz: 503 when the process drains", async () => {
  const response = await build({ draining: true }).request("/readyz");
  assert.equal(response.status, 503);
  assert.equal((await bodyOf(response)).status, "draining");
});

test("Postgres is ok with this build's schema, down with an older one or without an answer", async () => {
  const migrated = await testDatabase({ migrated: true });
  const empty = await testDatabase();
  for (const [url, state] of [
    [migrated.url, "ok"],
    [empty.url, "down"],
    ["postgres://absent@127.0.0.1:1/nowhere", "down"],
  ] as const) {
    const sql = openPostgres(url, { connections: 1 });
    assert.equal(await checkPostgres(sql)(), state, url);
    await sql.end();
  }
  const sql = openPostgres(migrated.url, { connections: 1 });
  await sql`delete from schema_version where version = (select max(version) from schema_version)`;
  assert.equal(await checkPostgres(sql)(), "down");
  await sql.end();
  await migrated.close();
  await empty.close();
});

test("Redis is ok when it never evicts, down when it may, degraded when it is away", async () => {
  const server = await testRedis({ own: true });
  const redis = openRedis(server.url, silentLogger);
  await new Promise((resolve) => redis.once("ready", resolve));
  const check = checkRedis(redis);
  assert.equal(await check(), "ok");
  await redis.configSet("maxmemory-policy", "allkeys-lru");
  assert.equal(await check(), "down");
  await redis.configSet("maxmemory-policy", "noeviction");
  assert.equal(await check(), "ok");
  await server.close();
  assert.equal(await check(), "degraded");
  await closeRedis(redis);
});

test("/readyz: requests within a second share one look", async () => {
  let looks = 0;
  const postgres: DependencyCheck = async () => {
    looks += 1;
    return "ok";
  };
  const app = build({ dependencies: { postgres } });
  const replies = await Promise.all(Array.from({ length: 50 }, () => app.request("/readyz")));
  assert.ok(replies.every(({ status }) => status === 200));
  assert.equal(looks, 1);
});

test("Redis is degraded when it answers and refuses every write", async () => {
  const server = await testRedis({ own: true });
  const redis = openRedis(server.url, silentLogger);
  if (!redis.isReady) await new Promise((resolve) => redis.once("ready", resolve));
  assert.equal(await checkRedis(redis)(), "ok");
  await redis.configSet("min-replicas-to-write", "1");
  assert.equal(await checkRedis(redis)(), "degraded");
  await closeRedis(redis);
  await server.close();
});

test("405 with `Allow` for another method, and HEAD as GET", async () => {
  const app = build({ token: TOKEN });
  for (const path of ["/healthz", "/readyz", "/metrics"]) {
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      const response = await app.request(path, { method });
      const { code } = await bodyOf(response);
      const shown = [response.status, code, response.headers.get("allow")];
      assert.deepEqual(shown, [405, "METHOD_NOT_ALLOWED", "GET, HEAD"], `${method} ${path}`);
    }
  }
  assert.equal((await app.request("/healthz", { method: "HEAD" })).status, 200);
});

test("/metrics: 401 without the operator token, and always without one configured", async () => {
  const app = build({ token: TOKEN });
  for (const given of [undefined, "", TOKEN, `Bearer ${TOKEN}x`, "Bearer ", `Basic ${TOKEN}`]) {
    const headers: Record<string, string> = given === undefined ? {} : { Authorization: given };
    const response = await app.request("/metrics", { headers });
    assert.equal(response.status, 401, given);
    assert.equal(response.headers.get("www-authenticate"), "Bearer");
  }
  const closed = await build().request("/metrics", {
    headers: { Authorization: "Bearer undefined" },
  });
  assert.equal(closed.status, 401);
});

test("/metrics: 200 with it, gauges brought up to date", async () => {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const response = await build({ token: TOKEN }).request("/metrics", { headers });
  assert.equal(response.status, 200);
  assert.match(response.headers.get("content-type") ?? "", /^text\/plain/);
  assert.match(await response.text(), /^starboard_publishing_pending 42$/m);
});

test.run();
