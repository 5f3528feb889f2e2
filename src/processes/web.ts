import { followClock } from "../clock.ts";
import { bounds, ownUrl, type With } from "../config.ts";
import { createMintSnapshots } from "../hosting/mint-snapshots.ts";
import { createSnapshots } from "../hosting/snapshots.ts";
import { serveHttp } from "../http/serve.ts";
import { createRefusalTrail } from "../journal/refusal-trail.ts";
import { lastUsed } from "../keys/last-used.ts";
import { keyVerifier } from "../keys/verify-key.ts";
import { createMirrorNode } from "../ledger/mirror-node.ts";
import type { Logger } from "../log.ts";
import { createMetrics, type Metrics } from "../metrics.ts";
import { openPostgres, readDatabaseClock } from "../store/postgres.ts";
import type { QueueBackend } from "../store/queue-connection.ts";
import { closeRedis, openRedis } from "../store/redis.ts";
import { startProcessReport } from "../upkeep/report-process.ts";
import { composeHttp } from "./compose-http.ts";
import { composeLive } from "./compose-live.ts";
import { openOperating } from "./operating.ts";
import { prepareDatabase } from "./prepare-database.ts";
import { refreshMetrics } from "./refresh-metrics.ts";
import { ownVersion } from "./version.ts";
import { votingUseCases } from "./voting-use-cases.ts";

/** What a web process cannot do without. */
export const WEB_SETTINGS = [
  "DATABASE_URL",
  "REDIS_URL",
  "MIRROR_NODE_URL",
  "COLLECTION_A_ID",
  "COLLECTION_A_KEY",
  "COLLECTION_B_ID",
  "COLLECTION_B_KEY",
] as const;
export type WebSettings = Readonly<With<(typeof WEB_SETTINGS)[number]>>;

/** Two flights of commits, and the loads of the turns behind them. */
const WRITER_CONNECTIONS = 6;
/** All exports that are being read share them, a page at a time. */
const EXPORT_CONNECTIONS = 2;
/** What operators look at waits for these alone, and a page that takes longer is given up. */
const READER = { connections: 3, statementTimeoutMs: 1_500, byKey: true };

/** A part of the service that runs in this process. */
export interface Running {
  /** Stops taking work, finishes what is begun, lets go of everything. */
  close(): Promise<void>;
}

/** What a web process is given. */
export interface WebParts {
  readonly log: Logger;
  /** Wakes a publisher somewhere; never waits, never throws. */
  readonly wake: () => void;
  /** Of the process, where it has more parts than this; else the web process' own. */
  readonly metrics?: Metrics;
  /** Where BullMQ's queues live, to be looked at; the service's Redis when absent. */
  readonly backend?: QueueBackend;
}

/**
 * Starts a web process: the public API and the voting API on one port. It never loads the
 * ledger SDK and never sees the operator's key.
 *
 * @throws Error when Postgres is out of reach: whoever does not know the time dates no star
 */
export async function startWeb(
  settings: WebSettings,
  { log, wake, backend, metrics = createMetrics({ process: true }) }: WebParts,
): Promise<Running & { readonly url: string }> {
  const outside = await connect(settings, log, () => voting.forgetActors());
  const { sql, clock } = outside;
  const snapshots = createSnapshots(outside.redis);
  const mintSnapshots = createMintSnapshots(outside.redis);
  const used = lastUsed(sql, clock, (error) => log.warn({ err: error }, "last use not noted"));
  const publicUrl = ownUrl(settings);
  const resting = { snapshots, mintSnapshots, refusals: createRefusalTrail(outside.redis) };
  const voting = votingUseCases({ ...outside, ...resting, settings, metrics, wake, publicUrl });
  const live = composeLive({ ...outside, log, metrics, trustedProxies: settings.TRUSTED_PROXIES });
  const operating = openOperating({ ...outside, settings, log, wake, backend });
  let isDraining = false;
  const app = composeHttp({
    ...outside,
    operating,
    settings,
    publicUrl,
    log,
    metrics,
    verifyKey: keyVerifier(sql, used.note, clock),
    voting,
    live: live.app,
    ...resting,
    isDraining: () => isDraining,
    refreshMetrics: () => refreshMetrics(sql, metrics),
  });
  const report = startProcessReport({
    ...outside,
    role: "web",
    version: ownVersion(),
    sql: outside.reader,
    log,
    metrics,
    countActors: voting.countActors,
  });
  const server = await serveHttp(app, { host: settings.HOST, port: settings.PORT });
  return {
    url: server.url,
    async close() {
      isDraining = true;
      live.close();
      await server.close(bounds.drainMs);
      await voting.settled();
      await Promise.all([snapshots.settled(), mintSnapshots.settled()]);
      await used.close();
      await report.close();
      await operating.close();
      await outside.close();
    },
  };
}

/** The outside of a web process: three pools, Redis, the clock, the mirror node. */
async function connect(settings: WebSettings, log: Logger, onWriterClose: () => void) {
  const role = await prepareDatabase(settings.DATABASE_URL, log);
  const sql = openPostgres(settings.DATABASE_URL, { role });
  const reader = openPostgres(settings.DATABASE_URL, { role, ...READER });
  const writer = openPostgres(settings.DATABASE_URL, {
    role,
    writer: true,
    connections: WRITER_CONNECTIONS,
    // A server that took over may lack the last commits: remember nothing of the old one.
    onClose: onWriterClose,
  });
  const exportsSql = openPostgres(settings.DATABASE_URL, {
    role,
    byKey: true,
    connections: EXPORT_CONNECTIONS,
  });
  const clock = await followClock(
    () => readDatabaseClock(sql),
    (error) => log.warn({ err: error }, "the clock could not be measured"),
  );
  const redis = openRedis(settings.REDIS_URL, log);
  const mirror = createMirrorNode({ urls: settings.MIRROR_NODE_URL, log });
  return {
    role,
    sql,
    reader,
    writer,
    exportsSql,
    clock,
    redis,
    mirror,
    async close() {
      clock.stop();
      await Promise.all([
        mirror.close(),
        closeRedis(redis),
        sql.end({ timeout: 1 }),
        reader.end({ timeout: 1 }),
        writer.end({ timeout: 1 }),
        exportsSql.end({ timeout: 1 }),
      ]);
    },
  };
}
