import type { Hono } from "hono";
import { explorerUrl, publicMirrorUrl } from "../addresses.ts";
import type { SigningWallet } from "../cli/demo-wallet.ts";
import type { HoldingsReader } from "../holdings/read-holdings.ts";
import type { Resting } from "../hosting/show-actor.ts";
import { createApp, type Mount } from "../http/app.ts";
import { consoleRoutes } from "../http/console/app.ts";
import { consolePages } from "../http/console/pages.ts";
import type { QueueBoard } from "../http/console/queue-board.ts";
import { docsRoutes } from "../http/docs/routes.ts";
import { exportRoutes } from "../http/exports/routes.ts";
import { type FastPath, fastPath } from "../http/fast-path/fast-path.ts";
import { checkPostgres, checkRedis, healthRoutes } from "../http/health.ts";
import type { ClientAddress } from "../http/middleware/client-address.ts";
import { type Limited, rateLimit } from "../http/middleware/rate-limit.ts";
import { type OperatorAccess, operatorAccess } from "../http/operator-access.ts";
import { opsApi } from "../http/ops/api.ts";
import { type PagesGiven, pageRoutes } from "../http/pages/app.ts";
import type { Assets } from "../http/pages/assets.ts";
import { demoRoutes } from "../http/pages/demo-wallets.ts";
import { sharedReadings, visitorFinder } from "../http/pages/page.ts";
import { publicApi } from "../http/v1/api.ts";
import { votingApi } from "../http/voting/api.ts";
import { type VotingDeps, votingRoutes } from "../http/voting/routes.ts";
import { exportSettings } from "../journal/export-settings.ts";
import type { RefusalTrail } from "../journal/refusal-trail.ts";
import { findOperator } from "../keys/operators.ts";
import type { VerifyKey } from "../keys/verify-key.ts";
import type { HoldingsCheckByHand } from "../upkeep/holdings-check/by-hand.ts";
import type { WebConnections } from "./web-connections.ts";

interface Served extends WebConnections {
  readonly publicUrl: string;
  readonly wake: () => void;
  readonly client: ClientAddress;
  readonly verifyKey: VerifyKey;
  readonly voting: VotingDeps;
  /** `GET /voting/live`. */
  readonly live: Hono;
  readonly resting: Resting;
  readonly refusals: RefusalTrail;
  readonly checks: HoldingsCheckByHand;
  /** Absent where no Redis is fit for BullMQ. */
  readonly board: QueueBoard | undefined;
  /** Present where this machine signs for its demo wallets. */
  readonly demoWallets?: readonly SigningWallet[] | undefined;
  readonly readHoldings: HoldingsReader["read"];
  /** What the directory's pages load; absent where there are no pages. */
  readonly assets: Assets | undefined;
  readonly isDraining: () => boolean;
  readonly refreshMetrics: () => Promise<void>;
  /** How many web processes share the limits while Redis counts nothing. */
  readonly processes: () => number;
}

/** Everything one port answers, and the fast path to it. */
export function webRoutes(parts: Served): { app: Hono; fastPath: FastPath } {
  const { settings, sql, reader, redis, clock, log, metrics, client, processes } = parts;
  const limited = { client, clock, redis, processes, metrics };
  const access = operatorAccess({
    ...limited,
    operatorToken: settings.OPERATOR_TOKEN,
    findOperator: (token) => findOperator(sql, token),
    metricsToken: settings.METRICS_TOKEN,
    log,
  });
  const health = healthRoutes({
    log,
    metrics,
    dependencies: { postgres: checkPostgres(sql), redis: checkRedis(redis) },
    isDraining: parts.isDraining,
    journal: () => parts.journal.state,
    access,
    refreshMetrics: parts.refreshMetrics,
  });
  const api = publicApi({
    ...limited,
    sql,
    verifyKey: parts.verifyKey,
    eventSources: settings.EVENT_SOURCES ?? [],
    rateLimit: settings.API_RATE_LIMIT,
    publicUrl: parts.publicUrl,
  });
  const votingLimit = rateLimit({
    ...limited,
    name: "voting",
    limit: settings.VOTING_RATE_LIMIT,
    code: "RATE_LIMITED",
  });
  const voting = votingApi({
    origins: settings.VOTING_ORIGINS,
    limit: votingLimit,
    live: parts.live,
    operations: votingRoutes(parts.voting),
  });
  const ops = opsApi({ ...parts, access, sql: reader });
  const exports = exportRoutes({
    ...limited,
    sql: parts.exportsSql,
    settings: exportSettings(settings),
    limit: settings.API_RATE_LIMIT,
    log,
  });
  const mounts = [
    { path: "/", app: health },
    { path: "/", app: api.app },
    { path: "/", app: docsRoutes(parts.publicUrl) },
    { path: "/voting", app: voting },
    { path: "/ops/api", app: ops },
    { path: "/exports", app: exports },
    { path: "/ops", app: operatorConsole(parts, access) },
    ...pageMounts(parts, limited),
  ];
  const common = { log, metrics, now: clock.now };
  return { app: createApp({ ...common, mounts }), fastPath: fastPath(api.find, common) };
}

/** The directory's pages, and the signing for demo wallets where this machine does it. */
function pageMounts(parts: Served, limited: Limited) {
  const { demoWallets: wallets, readHoldings, assets, settings } = parts;
  const mounts: Mount[] = [];
  if (wallets !== undefined) {
    const { requireOwnPage } = parts.voting.tokens;
    mounts.push({ path: "/demo", app: demoRoutes({ wallets, readHoldings, requireOwnPage }) });
  }
  if (assets !== undefined) {
    const limit = rateLimit({ ...limited, name: "pages", limit: settings.VOTING_RATE_LIMIT });
    mounts.push({ path: "/", app: directory(parts, { limit, assets }) });
  }
  return mounts;
}

const WALLETCONNECT_RELAY = "wss://relay.walletconnect.org";

function directory(parts: Served, given: Pick<PagesGiven, "assets" | "limit">): Hono {
  const { settings, sql, clock, log, voting } = parts;
  return pageRoutes({
    ...given,
    clock,
    log,
    network: settings.HEDERA_NETWORK,
    relays: settings.WALLETCONNECT_PROJECT_ID === undefined ? [] : [WALLETCONNECT_RELAY],
    findVisitor: visitorFinder({ ...voting, sql }),
    reading: {
      sql,
      eventSources: settings.EVENT_SOURCES ?? [],
      siteName: settings.SITE_NAME,
      explorerUrl: explorerUrl(settings),
      mirrorNodeUrl: publicMirrorUrl(settings),
      share: sharedReadings(clock),
    },
  });
}

/** The operators' console with its pages, to be mounted at `/ops`. */
function operatorConsole(parts: Served, access: OperatorAccess): Hono {
  const {
    OPERATOR_TOKEN: operatorToken,
    HEDERA_NETWORK: network,
    VOTING_RATE_LIMIT: guestRateLimit,
  } = parts.settings;
  const explorer = explorerUrl(parts.settings);
  const shared = { ...parts, sql: parts.reader, network, explorer };
  const pages = consolePages(shared);
  const isBehind = (): boolean => parts.journal.state === "behind";
  return consoleRoutes({ ...shared, operatorToken, guestRateLimit, access, isBehind }, pages);
}
