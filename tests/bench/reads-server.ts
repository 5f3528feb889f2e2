import { Hono } from "hono";
import { followClock } from "../../src/clock.ts";
import { createApp } from "../../src/http/app.ts";
import { fastPath } from "../../src/http/fast-path/fast-path.ts";
import { clientAddress } from "../../src/http/middleware/client-address.ts";
import { serveHttp } from "../../src/http/serve.ts";
import { publicApi } from "../../src/http/v1/api.ts";
import { lastUsed } from "../../src/keys/last-used.ts";
import { keyVerifier } from "../../src/keys/verify-key.ts";
import { createLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { appRole, openPostgres, readDatabaseClock } from "../../src/store/postgres.ts";
import { closeRedis, openRedis } from "../../src/store/redis.ts";

/**
 * The public API as a web process composes it, and beside it, in the same process on the same
 * server, a bare Hono app whose route returns a constant body of the same size.
 */
export interface ReadsOrder {
  readonly port: number;
  readonly barePort: number;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly key: string;
  /** Paths below `/v1`; the bare route of each is the same path. */
  readonly paths: readonly string[];
}

const order = JSON.parse(process.argv[2] ?? "{}") as ReadsOrder;
const HOST = "127.0.0.1";
const NO_LIMIT = 1_000_000;

async function main(): Promise<void> {
  const log = createLogger("info", "bench");
  const probe = openPostgres(order.databaseUrl, { connections: 1 });
  const role = await appRole(probe);
  await probe.end({ timeout: 1 });
  const sql = openPostgres(order.databaseUrl, { role });
  const clock = await followClock(
    () => readDatabaseClock(sql),
    () => undefined,
  );
  const redis = openRedis(order.redisUrl, log);
  const metrics = createMetrics({ process: true });
  const used = lastUsed(sql, clock, () => undefined);
  const api = publicApi({
    sql,
    clock,
    redis,
    metrics,
    client: clientAddress([]),
    verifyKey: keyVerifier(sql, used.note),
    eventSources: [],
    rateLimit: NO_LIMIT,
    publicUrl: `http://${HOST}:${order.port}`,
  });
  const house = createApp({ log, metrics, mounts: [{ path: "/", app: api.app }] });
  const ready = fastPath(api.find, { log, metrics, now: Date.now });
  const bare = await bareTwin(house);
  const servers = [
    await serveHttp(bare, { host: HOST, port: order.barePort }),
    await serveHttp(house, { host: HOST, port: order.port, fastPath: ready }),
  ];
  process.once("SIGTERM", async () => {
    await Promise.all(servers.map((server) => server.close(1_000)));
    clock.stop();
    await used.close();
    await Promise.all([closeRedis(redis), sql.end({ timeout: 1 })]);
    process.exit(0);
  });
}

async function bareTwin(house: Hono): Promise<Hono> {
  const bare = new Hono();
  for (const path of order.paths) {
    const headers = { Authorization: `Bearer ${order.key}` };
    const body = await (await house.request(`/v1${path}`, { headers })).text();
    const constant = "x".repeat(Buffer.byteLength(body));
    bare.get(`/v1${path}`, (c) => c.body(constant, 200, { "Content-Type": "application/json" }));
  }
  return bare;
}

await main();
