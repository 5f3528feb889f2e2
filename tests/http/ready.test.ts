/**
 * Goal: `/readyz` says the truth of a whole process that works as the restricted role. Method: a
 * real web process; its dependencies are taken away one by one.
 */
import * as assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { suite } from "uvu";
import { silentLogger } from "../../src/log.ts";
import { openRedis } from "../../src/store/redis.ts";
import { until } from "../support/processes.ts";
import { type Service, send, startService } from "../support/service.ts";

const test = suite<{ service: Service }>("readiness");

test.before.each(async (context) => {
  context.service = await startService({ OPERATOR_TOKEN: "operator-token-of-the-test" });
});
test.after.each((context) => context.service.close());

test("200 with each dependency ok", async ({ service }) => {
  // Redis may connect a moment after the first look.
  await until("each dependency is ok", async () => {
    const { status, body } = await send(service, "GET /readyz");
    assert.equal(status, 200);
    return isDeepStrictEqual(body, {
      status: "ok",
      journal: "ok",
      dependencies: { postgres: "ok", redis: "ok" },
    });
  });
});

test("503 when a newer schema is needed", async ({ service }) => {
  await service.sql`update schema_version set version = 1 where version > 1`.catch(() => undefined);
  await service.sql`delete from schema_version where version > 1`;
  const { status, body } = await send(service, "GET /readyz");
  assert.deepEqual([status, body.dependencies.postgres], [503, "down"]);
});

test("503 when Redis may evict (A12 evicting-redis)", async ({ service }) => {
  const redis = openRedis(service.redisUrl, silentLogger);
  if (!redis.isReady) await new Promise((resolve) => redis.once("ready", resolve));
  await redis.configSet("maxmemory-policy", "allkeys-lru");
  const { status, body } = await send(service, "GET /readyz");
  await redis.configSet("maxmemory-policy", "noeviction");
  redis.destroy();
  assert.deepEqual([status, body.dependencies.redis], [503, "down"]);
});

test("the metrics of the process need the operator's token", async ({ service }) => {
  assert.equal((await send(service, "GET /metrics")).status, 401);
  const { status, text } = await send(service, "GET /metrics", {
    token: "operator-token-of-the-test",
  });
  assert.equal(status, 200);
  assert.match(text, /^starboard_publishing_pending 0$/m);
  const names = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name);
  assert.deepEqual(
    names.filter((name) => !name.startsWith("starboard_")),
    [],
  );
});

test.run();
