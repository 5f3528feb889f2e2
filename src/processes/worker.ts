import { bounds } from "../bounds.ts";
import type { Clock } from "../clock.ts";
import { LEDGER_SETTINGS, type With } from "../config.ts";
import { failpoint } from "../failpoint.ts";
import { createApp } from "../http/app.ts";
import { checkPostgres, healthRoutes } from "../http/health.ts";
import { clientAddress, socketAddress } from "../http/middleware/client-address.ts";
import { operatorAccess } from "../http/operator-access.ts";
import { serveHttp } from "../http/serve.ts";
import { exportSettings } from "../journal/export-settings.ts";
import { findOperator } from "../keys/operators.ts";
import { createHederaTopic } from "../ledger/hedera-topic.ts";
import { readOperatorKey } from "../ledger/operator-key.ts";
import type { Logger } from "../log.ts";
import { createMetrics, type Metrics } from "../metrics.ts";
import { startPublisher } from "../publishing/publisher.ts";
import type { WakeQueue } from "../publishing/queue.ts";
import type { Service } from "../service.ts";
import { followDatabaseClock } from "../store/database-clock.ts";
import { createEpochWitness } from "../store/database-identity.ts";
import { openPostgres, type Sql } from "../store/postgres.ts";
import { closeRedis, openRedis, type Redis } from "../store/redis.ts";
import { ownVersion } from "../this-build.ts";
import { startExportsUpkeep } from "../upkeep/finalize-exports.ts";
import { createHoldingsCheck, startHoldingsCheckSchedule } from "../upkeep/holdings-check/check.ts";
import { startHousekeeping } from "../upkeep/housekeeping.ts";
import { startRewards } from "../upkeep/offer-rewards.ts";
import { watchOperator } from "../upkeep/operator-balance.ts";
import { startReconciler } from "../upkeep/reconcile.ts";
import { startCatalogueRefresh } from "../upkeep/refresh-catalogue.ts";
import { startProcessReport } from "../upkeep/report-process.ts";
import { createTroubles } from "../upkeep/troubles.ts";
import { observedMirror, observedTopic } from "./observe-ledger.ts";
import { prepareDatabase } from "./prepare-database.ts";

/** What a worker cannot do without. */
export const WORKER_SETTINGS = [
  "DATABASE_URL",
  "REDIS_URL",
  "MIRROR_NODE_URL",
  ...LEDGER_SETTINGS,
] as const;
export type WorkerSettings = Readonly<With<(typeof WORKER_SETTINGS)[number]>>;

/**
 * Starts a worker: it publishes what is stored, hands it to rewards, checks holdings daily,
 * makes the journal's days final, refreshes the catalogue and deletes what has expired. Only a
 * worker has the operator's key and loads the ledger SDK.
 *
 * @returns with the address of its own port; null where `WORKER_PORT` asks for none
 * @throws ConfigurationError when a topic is not fit for stars, or the key is none
 */
export async function startWorker(
  settings: WorkerSettings,
  given: {
    readonly log: Logger;
    readonly queue: Pick<WakeQueue, "onWake">;
    /** The Redis of BullMQ; absent where none is fit for it. */
    readonly queueUrl: string | undefined;
    /** Of the process, where it has more parts than this; else the worker's own. */
    readonly metrics?: Metrics;
  },
): Promise<Service & { readonly url: string | null }> {
  const { log, queue, queueUrl } = given;
  // Before any server is asked: one that is away would hide what is wrong with it.
  readOperatorKey(settings.HEDERA_OPERATOR_KEY);
  const role = await prepareDatabase(settings, log);
  const sql = openPostgres(settings.DATABASE_URL, { role });
  const redis = openRedis(settings.REDIS_URL, log);
  const clock = await followDatabaseClock(sql, log);
  const { metrics = createMetrics({ process: true }) } = given;
  const mirror = observedMirror(settings.MIRROR_NODE_URL, log, metrics);
  const topic = observedTopic(await openTopic(settings), metrics);
  const publisher = await startPublisher({
    sql,
    witness: createEpochWitness(redis),
    topic,
    mirror,
    topics: { event: settings.EVENT_VOTES_TOPIC_ID, asset: settings.ASSET_VOTES_TOPIC_ID },
    queue,
    log,
    metrics,
  });
  const housekeeping = startHousekeeping({ sql, clock, log });
  const check = createHoldingsCheck({
    sql,
    mirror,
    clock,
    log,
    collections: { A: settings.COLLECTION_A_ID, B: settings.COLLECTION_B_ID },
    failpoint: (name) => failpoint?.(name),
  });
  const schedule = startHoldingsCheckSchedule({ check, clock, log });
  const refresh = startCatalogueRefresh({ sql, mirror, log, priceUrl: settings.PRICE_URL });
  const troubles = createTroubles(clock);
  const rewards = startRewards({ sql, redisUrl: queueUrl, log, troubles });
  const exportsSql = openPostgres(settings.DATABASE_URL, { role, byKey: true, connections: 1 });
  const exportsOf = exportSettings(settings);
  const exports = startExportsUpkeep({ sql: exportsSql, log, settings: exportsOf, troubles });
  const version = ownVersion();
  const outside = { sql, mirror, clock, log, metrics, troubles };
  const lookAtOperator = watchOperator({ ...outside, account: settings.HEDERA_OPERATOR_ID });
  const report = startProcessReport({ role: "worker", version, ...outside, lookAtOperator });
  const reconciler = startReconciler({ sql, log, metrics, publisher });
  let isDraining = false;
  const parts = [reconciler, report, publisher, housekeeping, schedule, refresh, rewards, exports];
  const close = async (port?: Service): Promise<void> => {
    isDraining = true;
    await Promise.all(parts.map((part) => part.close()));
    await port?.close();
    clock.stop();
    topic.close();
    await mirror.close();
    const pools = [sql, exportsSql].map((pool) => pool.end({ timeout: 1 }));
    await Promise.all([...pools, closeRedis(redis)]);
  };
  try {
    const port = await openPort({ ...outside, settings, redis, isDraining: () => isDraining });
    return { url: port?.url ?? null, close: () => close(port) };
  } catch (error) {
    // A port that is taken: what is at work already gives back the stars that it holds. Where that
    // fails too, the port is what an operator must hear of.
    await close().catch(() => undefined);
    throw error;
  }
}

function openTopic(settings: WorkerSettings): ReturnType<typeof createHederaTopic> {
  return createHederaTopic({
    network: settings.HEDERA_NETWORK,
    nodes: settings.HEDERA_NODES,
    operatorId: settings.HEDERA_OPERATOR_ID,
    operatorKey: settings.HEDERA_OPERATOR_KEY,
  });
}

/**
 * The worker's own port, where `WORKER_PORT` asks for one. A worker gets no requests: ready says no
 * more than that it can work, and the mirror node, the consensus nodes and Redis may be away.
 */
async function openPort(parts: {
  readonly settings: WorkerSettings;
  readonly sql: Sql;
  readonly redis: Redis;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly isDraining: () => boolean;
}): Promise<(Service & { readonly url: string }) | undefined> {
  const { settings, sql, redis, log, metrics } = parts;
  const { HOST: host, WORKER_PORT: port } = settings;
  if (port === undefined) return undefined;
  const access = operatorAccess({
    ...parts,
    operatorToken: settings.OPERATOR_TOKEN,
    findOperator: (token) => findOperator(sql, token),
    metricsToken: settings.METRICS_TOKEN,
    client: clientAddress(settings.TRUSTED_PROXIES),
    redis,
  });
  const health = healthRoutes({ ...parts, access, dependencies: { postgres: checkPostgres(sql) } });
  const app = createApp({ log, metrics, mounts: [{ path: "/", app: health }] });
  const sockets = socketAddress(settings.TRUSTED_PROXIES);
  const server = await serveHttp(app, { host, port, socketAddress: sockets });
  return {
    url: server.url,
    close: () => server.close(bounds.drainMs),
  };
}
