import { createApp } from "../http/app.ts";
import { checkPostgres } from "../http/dependencies.ts";
import { healthRoutes } from "../http/health.ts";
import { type HttpServer, serveHttp } from "../http/serve.ts";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { Sql } from "../store/postgres.ts";
import type { WorkerSettings } from "./worker.ts";

/** What a worker's own port shows. */
export interface WorkerHttpParts {
  readonly settings: WorkerSettings;
  readonly sql: Sql;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly isDraining: () => boolean;
}

/**
 * A worker's own port, where `WORKER_PORT` asks for one: `/healthz`, `/readyz` and `/metrics`,
 * and nothing else. A worker gets no requests, so its readiness says no more than that it can
 * work: the mirror node, the consensus nodes and Redis may be away.
 *
 * @returns undefined when the worker has no port
 * @throws Error when the port is taken
 */
export async function serveWorkerHttp(parts: WorkerHttpParts): Promise<HttpServer | undefined> {
  const { settings, sql, log, metrics, isDraining } = parts;
  if (settings.WORKER_PORT === undefined) return undefined;
  const health = healthRoutes({
    log,
    metrics,
    isDraining,
    operatorToken: settings.OPERATOR_TOKEN,
    dependencies: { postgres: checkPostgres(sql) },
  });
  const app = createApp({ log, metrics, mounts: [{ path: "/", app: health }] });
  return serveHttp(app, { host: settings.HOST, port: settings.WORKER_PORT });
}
