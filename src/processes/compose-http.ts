import { Hono } from "hono";
import { cors } from "hono/cors";
import type { FollowedClock } from "../clock.ts";
import { actorHistory } from "../hosting/actor-history.ts";
import { showActor } from "../hosting/inspect-actor.ts";
import { listActors } from "../hosting/list-actors.ts";
import type { MintSnapshots } from "../hosting/mint-snapshots.ts";
import type { Snapshots } from "../hosting/snapshots.ts";
import { createApp } from "../http/app.ts";
import { checkPostgres, checkRedis } from "../http/dependencies.ts";
import { docsRoutes } from "../http/docs/routes.ts";
import { exportRoutes } from "../http/exports/routes.ts";
import { healthRoutes } from "../http/health.ts";
import { clientAddress } from "../http/middleware/client-address.ts";
import { rateLimit } from "../http/middleware/rate-limit.ts";
import { opsApi } from "../http/ops/api.ts";
import { publicApi } from "../http/v1/api.ts";
import { type VotingDeps, votingRoutes } from "../http/voting/routes.ts";
import { exportSettings } from "../journal/export-days.ts";
import type { RefusalTrail } from "../journal/refusal-trail.ts";
import type { VerifyKey } from "../keys/verify-key.ts";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { publishingState } from "../publishing/publishing-state.ts";
import type { Sql } from "../store/postgres.ts";
import type { Redis } from "../store/redis.ts";
import { composeConsole } from "./compose-console.ts";
import type { Operating } from "./operating.ts";
import type { WebSettings } from "./web.ts";

/** What the routes stand on. */
export interface HttpParts {
  readonly settings: WebSettings;
  readonly publicUrl: string;
  readonly sql: Sql;
  /** A small pool for what operators look at. */
  readonly reader: Sql;
  /** Reads whole days, page by page, while votes and reads go on beside it. */
  readonly exportsSql: Sql;
  readonly redis: Redis;
  readonly clock: FollowedClock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly verifyKey: VerifyKey;
  readonly voting: VotingDeps;
  /** `GET /voting/live`. */
  readonly live: Hono;
  readonly snapshots: Snapshots;
  readonly mintSnapshots: MintSnapshots;
  readonly refusals: RefusalTrail;
  /** What the console can set going. */
  readonly operating: Operating;
  readonly isDraining: () => boolean;
  readonly refreshMetrics: () => Promise<void>;
}

const MINUTE_MS = 60_000;
/** Browsers may remember a preflight this long. */
const PREFLIGHT_KEPT_SECONDS = 600;

/** Everything one port answers. */
export function composeHttp(parts: HttpParts): Hono {
  const { settings, sql, redis, clock, log, metrics } = parts;
  const client = clientAddress(settings.TRUSTED_PROXIES);
  const health = healthRoutes({
    log,
    metrics,
    dependencies: { postgres: checkPostgres(sql), redis: checkRedis(redis) },
    isDraining: parts.isDraining,
    operatorToken: settings.OPERATOR_TOKEN,
    refreshMetrics: parts.refreshMetrics,
  });
  const api = publicApi({
    sql,
    clock,
    redis,
    metrics,
    client,
    verifyKey: parts.verifyKey,
    eventSources: settings.EVENT_SOURCES ?? [],
    rateLimit: settings.API_RATE_LIMIT,
    publicUrl: parts.publicUrl,
  });
  const voting = new Hono();
  voting.use(
    cors({
      origin: [...settings.VOTING_ORIGINS],
      allowMethods: ["GET", "POST", "DELETE"],
      allowHeaders: ["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID"],
      exposeHeaders: ["Idempotent-Replayed", "Retry-After", "RateLimit", "RateLimit-Policy"],
      maxAge: PREFLIGHT_KEPT_SECONDS,
    }),
    rateLimit({
      name: "voting",
      limit: settings.VOTING_RATE_LIMIT,
      windowMs: MINUTE_MS,
      code: "RATE_LIMITED",
      client,
      clock,
      redis,
      metrics,
    }).middleware,
  );
  voting.route("/", parts.live);
  voting.route("/", votingRoutes(parts.voting));
  const { reader, snapshots, mintSnapshots } = parts;
  const ops = opsApi({
    operatorToken: settings.OPERATOR_TOKEN,
    listActors: (query) => listActors(reader, query),
    showActor: (name) => showActor({ sql: reader, snapshots, mintSnapshots }, name),
    actorHistory: (name) => actorHistory(reader, name),
    publishing: () => publishingState(reader),
  });
  const exports = exportRoutes({
    sql: parts.exportsSql,
    settings: exportSettings(settings),
    limit: settings.API_RATE_LIMIT,
    client,
    clock,
    redis,
    metrics,
    log,
  });
  const mounts = [
    { path: "/", app: health },
    { path: "/", app: api },
    { path: "/", app: docsRoutes() },
    { path: "/voting", app: voting },
    { path: "/ops/api", app: ops },
    { path: "/exports", app: exports },
    { path: "/ops", app: composeConsole(parts, client) },
  ];
  return createApp({ log, metrics, mounts, now: clock.now });
}
