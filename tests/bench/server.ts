import { Hono } from "hono";
import type { Holdings } from "../../actors/weight.ts";
import { bounds } from "../../src/bounds.ts";
import { followClock } from "../../src/clock.ts";
import { createSnapshots } from "../../src/hosting/snapshots.ts";
import { createApp, type Mount } from "../../src/http/app.ts";
import { serveHttp } from "../../src/http/serve.ts";
import { type VotingDeps, votingRoutes } from "../../src/http/voting/routes.ts";
import { sessionTokens } from "../../src/http/voting/session-token.ts";
import { entityNumber } from "../../src/ledger/entity-id.ts";
import { createLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { appRole, openPostgres, readDatabaseClock, type Sql } from "../../src/store/postgres.ts";
import { closeRedis, openRedis } from "../../src/store/redis.ts";
import { castStar } from "../../src/voting/cast-star.ts";
import { createEngine } from "../../src/voting/engine.ts";
import { count } from "./observe.ts";
import { type PlainParts, plainRoutes } from "./plain.ts";
import { serialsOf } from "./workloads.ts";

/**
 * A server under test, in a process of its own, put together from the product's own parts; only
 * the holdings are given, so that the engine is measured and not a mirror node.
 */
export interface ServerOrder {
  readonly kind: "echo" | "house" | "engine" | "plain" | "dbos";
  readonly port: number;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** The engine with a commit for each star, as many under way as pay: what batching is worth. */
  readonly commitPerStar?: boolean;
  readonly actorsLiveMax?: number;
  readonly logLevel?: string;
}

const order = JSON.parse(process.argv[2] ?? "{}") as ServerOrder;
/** As many as serve the rival best on two cores; more only wait for each other. */
const PLAIN_CONNECTIONS = 16;
const PER_STAR_FLIGHTS = 16;
/** As in a web process. */
const WRITER_CONNECTIONS = 6;
const COLLECTION_KEYS = { a: "alpha", b: "beta" };

async function main(): Promise<void> {
  const { mounts, close } = await build();
  const log = createLogger(order.logLevel ?? "info", "bench");
  const app =
    order.kind === "echo"
      ? bareApp(mounts)
      : createApp({ log, metrics: createMetrics({ process: true }), mounts });
  const server = await serveHttp(app, { host: "127.0.0.1", port: order.port });
  process.once("SIGTERM", async () => {
    await server.close(1_000);
    await close();
    process.exit(0);
  });
}

interface Built {
  readonly mounts: readonly Mount[];
  readonly close: () => Promise<unknown>;
}

function build(): Promise<Built> {
  if (order.kind === "engine") return engine();
  if (order.kind === "plain") return plain();
  if (order.kind === "dbos") return plainUnderDbos();
  return Promise.resolve(echo());
}

function bareApp(mounted: readonly Mount[]): Hono {
  const bare = new Hono();
  for (const { path, app: part } of mounted) bare.route(path, part);
  return bare;
}

/** The ceiling: reads a JSON body, answers with it. */
function echo(): Built {
  const routes = new Hono();
  routes.post("/stars", async (c) => c.json(await c.req.json(), 201));
  return { mounts: [{ path: "/voting", app: routes }], close: () => Promise.resolve() };
}

function givenHoldings(wallet: string, readAt: number): Holdings {
  return { collectionA: serialsOf(entityNumber(wallet)), collectionB: [], readAt };
}

async function engine(): Promise<Built> {
  for (const outcome of ["stored", "slot", "claim"]) count(outcome, 0);
  if (order.commitPerStar) {
    Object.assign(bounds, { commitBatchMax: 1, commitFlightsMax: PER_STAR_FLIGHTS });
  }
  if (order.actorsLiveMax !== undefined) {
    Object.assign(bounds, { actorsLiveMax: order.actorsLiveMax });
  }
  const probe = openPostgres(order.databaseUrl, { connections: 1 });
  const role = await appRole(probe);
  await probe.end({ timeout: 1 });
  const connections = order.commitPerStar ? PER_STAR_FLIGHTS : WRITER_CONNECTIONS;
  const pools = await openPools(connections, role);
  const clock = await followClock(
    () => readDatabaseClock(pools.sql),
    () => undefined,
  );
  const redis = openRedis(order.redisUrl, createLogger("warn", "bench"));
  const snapshots = createSnapshots(redis);
  const { casting, ...voting } = createEngine({
    sql: pools.sql,
    writer: pools.writer,
    clock,
    snapshots,
    collectionKeys: COLLECTION_KEYS,
    readHoldings: (wallet) => Promise.resolve(givenHoldings(wallet, clock.now())),
    hasTaken: async () => true,
    onAccepted: () => count("accepted"),
    onContradiction: () => count("contradiction"),
    onOpen: (source) => count(source),
    onBatch: (stars) => {
      count("batches");
      count("batched", stars);
    },
  });
  const deps = {
    ...casting,
    commit: async (decided: Parameters<typeof casting.commit>[0]) => {
      const outcome = await casting.commit(decided);
      count(outcome.kind === "stored" ? outcome.kind : outcome.reason);
      return outcome;
    },
  };
  const routes = votingRoutes({
    ...unused,
    clock,
    findSession: voting.findSession,
    castStar: (cast) => castStar(deps, cast),
  });
  return {
    mounts: [{ path: "/", app: new Hono().route("/voting", routes) }],
    close: async () => {
      await voting.settled();
      await snapshots.settled();
      clock.stop();
      await Promise.all([closeRedis(redis), pools.end()]);
    },
  };
}

/** The plain service, with each star's transaction as a step of a durable workflow. */
async function plainUnderDbos(): Promise<Built> {
  // Only now: its packages are installed where it was asked for.
  const { castAsWorkflow } = await import("./peers/dbos.ts");
  return plain((sql) => castAsWorkflow(sql, order.databaseUrl));
}

type Durably = (
  sql: Sql,
) => Promise<{ readonly cast: NonNullable<PlainParts["cast"]>; close(): Promise<void> }>;

async function plain(durably?: Durably): Promise<Built> {
  // As the tables' owner: the product's role may write stars through `cast_stars` alone.
  const pools = await openPools(PLAIN_CONNECTIONS);
  const clock = await followClock(
    () => readDatabaseClock(pools.sql),
    () => undefined,
  );
  const sql = pools.writer;
  const durable = await durably?.(sql);
  const routes = plainRoutes({
    ...(durable === undefined ? {} : { cast: durable.cast }),
    sql,
    collectionKeys: COLLECTION_KEYS,
    readHoldings: (wallet) => Promise.resolve(givenHoldings(wallet, clock.now())),
  });
  return {
    mounts: [{ path: "/voting", app: routes }],
    close: async () => {
      clock.stop();
      await durable?.close();
      await pools.end();
    },
  };
}

async function openPools(connections: number, role?: string) {
  const sql = openPostgres(order.databaseUrl, { role });
  const writer = openPostgres(order.databaseUrl, { role, writer: true, connections });
  return {
    sql,
    writer,
    end: () => Promise.all([sql.end({ timeout: 1 }), writer.end({ timeout: 1 })]),
  };
}

function never(): never {
  throw new Error("no part of this benchmark");
}

const unused: Omit<VotingDeps, "clock" | "findSession" | "castStar"> = {
  network: "local",
  tokens: sessionTokens("http://127.0.0.1", []),
  config: { publicUrl: "http://127.0.0.1" } as VotingDeps["config"],
  readItems: never,
  startSignIn: never,
  openSession: never,
  revokeSessions: never,
  closeSession: never,
  readAllowance: never,
  previewStar: never,
  findReceipt: never,
  receiptsOfDay: never,
};

await main();
