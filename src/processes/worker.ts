import { followClock } from "../clock.ts";
import { bounds, type With } from "../config.ts";
import { failpoint } from "../failpoint.ts";
import { exportSettings } from "../journal/export-days.ts";
import { createHederaTopic } from "../ledger/hedera-topic.ts";
import { createMirrorNode } from "../ledger/mirror-node.ts";
import type { Logger } from "../log.ts";
import { createMetrics, type Metrics } from "../metrics.ts";
import { startPublisher } from "../publishing/publisher.ts";
import type { WakeQueue } from "../publishing/queue.ts";
import { openPostgres, readDatabaseClock } from "../store/postgres.ts";
import type { QueueBackend } from "../store/queue-connection.ts";
import { startExportsUpkeep } from "../upkeep/finalize-exports.ts";
import { createHoldingsCheck } from "../upkeep/holdings-check.ts";
import { startHousekeeping } from "../upkeep/housekeeping.ts";
import { startRewards } from "../upkeep/offer-rewards.ts";
import { startReconciler } from "../upkeep/reconcile.ts";
import { startCatalogueRefresh } from "../upkeep/refresh-catalogue.ts";
import { startProcessReport } from "../upkeep/report-process.ts";
import { startHoldingsCheckSchedule } from "../upkeep/schedule.ts";
import { prepareDatabase } from "./prepare-database.ts";
import { ownVersion } from "./version.ts";
import type { Running } from "./web.ts";
import { serveWorkerHttp } from "./worker-http.ts";

/** What a worker cannot do without. */
export const WORKER_SETTINGS = [
  "DATABASE_URL",
  "REDIS_URL",
  "MIRROR_NODE_URL",
  "HEDERA_OPERATOR_ID",
  "HEDERA_OPERATOR_KEY",
  "EVENT_VOTES_TOPIC_ID",
  "ASSET_VOTES_TOPIC_ID",
  "COLLECTION_A_ID",
  "COLLECTION_A_KEY",
  "COLLECTION_B_ID",
  "COLLECTION_B_KEY",
] as const;
export type WorkerSettings = Readonly<With<(typeof WORKER_SETTINGS)[number]>>;

/** What a worker is given. */
export interface WorkerParts {
  readonly log: Logger;
  readonly queue: Pick<WakeQueue, "onWake">;
  /** Where BullMQ keeps its schedules. */
  readonly backend: QueueBackend;
  /** Of the process, where it has more parts than this; else the worker's own. */
  readonly metrics?: Metrics;
}

/**
 * Starts a worker: it publishes what is stored, hands it to rewards, checks holdings daily,
 * makes the journal's days final, refreshes the catalogue and keeps the house. It alone has the
 * operator's key and loads the ledger SDK.
 *
 * @throws ConfigurationError when a topic is not fit for stars, or the key is none
 */
export async function startWorker(settings: WorkerSettings, given: WorkerParts): Promise<Running> {
  const { log, queue, backend } = given;
  const role = await prepareDatabase(settings.DATABASE_URL, log);
  const sql = openPostgres(settings.DATABASE_URL, { role });
  const clock = await followClock(
    () => readDatabaseClock(sql),
    (error) => log.warn({ err: error }, "the clock could not be measured"),
  );
  const mirror = createMirrorNode({ urls: settings.MIRROR_NODE_URL, log });
  const topic = await createHederaTopic({
    network: settings.HEDERA_NETWORK,
    nodes: settings.HEDERA_NODES,
    operatorId: settings.HEDERA_OPERATOR_ID,
    operatorKey: settings.HEDERA_OPERATOR_KEY,
  });
  const { metrics = createMetrics({ process: true }) } = given;
  const publisher = await startPublisher({
    sql,
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
  const schedule = startHoldingsCheckSchedule({ check, queue: backend, log });
  const refresh = startCatalogueRefresh({ sql, mirror, log, priceUrl: settings.PRICE_URL });
  const rewards = startRewards({ sql, backend, log });
  const exportsSql = openPostgres(settings.DATABASE_URL, { role, byKey: true, connections: 1 });
  const exports = startExportsUpkeep({ sql: exportsSql, log, settings: exportSettings(settings) });
  const version = ownVersion();
  const report = startProcessReport({ role: "worker", version, sql, mirror, clock, log, metrics });
  const reconciler = startReconciler({ sql, log, metrics, publisher });
  let isDraining = false;
  const http = await serveWorkerHttp({ settings, sql, log, metrics, isDraining: () => isDraining });
  const parts = [reconciler, report, publisher, housekeeping, schedule, refresh, rewards, exports];
  return {
    async close() {
      isDraining = true;
      await Promise.all(parts.map((part) => part.close()));
      await http?.close(bounds.drainMs);
      clock.stop();
      topic.close();
      await mirror.close();
      await Promise.all([sql.end({ timeout: 1 }), exportsSql.end({ timeout: 1 })]);
    },
  };
}
