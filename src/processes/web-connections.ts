import { setTimeout as delay } from "node:timers/promises";
import { ownUrl } from "../addresses.ts";
import { FOLD_TIMEOUT_MS } from "../catalogue/seasons.ts";
import { COLLECTION_SETTINGS, type Settings, type With } from "../config.ts";
import { clientAddress } from "../http/middleware/client-address.ts";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { watchJournal } from "../publishing/journal-watch.ts";
import { followDatabaseClock } from "../store/database-clock.ts";
import { settleInWithoutStars } from "../store/database-identity.ts";
import { openPostgres, type PoolOptions } from "../store/postgres.ts";
import { closeRedis, openRedis } from "../store/redis.ts";
import { observedMirror } from "./observe-ledger.ts";
import { prepareDatabase } from "./prepare-database.ts";

/** Two flights of commits, and the loads of the turns behind them. */
const WRITER_CONNECTIONS = 6;
/** All exports that are being read share them, a page at a time. */
const EXPORT_CONNECTIONS = 2;
/** What operators look at waits for these alone, and a page that takes longer is given up. */
const READER = { connections: 3, statementTimeoutMs: 1_500, byKey: true };
const CHECK_TIMEOUT_MS = 60_000;
/** Most topics are compared by then; where one takes longer, stars are refused meanwhile. */
const FIRST_STATE_MS = 2_000;

/** What a web process stands on: pools by purpose, Redis, the clock, the mirror node. */
export type WebConnections = Awaited<ReturnType<typeof connectWeb>>;

/**
 * @param forget called when what is remembered of the journal may be so no longer: a connection of the writer
 *   ended, or lost stars came back
 * @throws Error when Postgres is out of reach: a process that does not know the time dates no star
 */
export async function connectWeb(
  settings: WebSettings,
  { log, metrics }: { readonly log: Logger; readonly metrics: Metrics },
  forget: () => void,
) {
  const role = await prepareDatabase(settings, log);
  const open = (options: PoolOptions = {}) =>
    openPostgres(settings.DATABASE_URL, { role, ...options });
  const pools = {
    sql: open(),
    reader: open(READER),
    writer: open({
      writer: true,
      connections: WRITER_CONNECTIONS,
      onClose() {
        forget();
        journal.lookAgain();
      },
    }),
    /** Reads whole days, page by page, while votes and reads go on beside it. */
    exportsSql: open({ byKey: true, connections: EXPORT_CONNECTIONS }),
    /** For an operator's acts that may take their time: a season is folded from all its stars. */
    patientSql: open({ connections: 2, statementTimeoutMs: FOLD_TIMEOUT_MS }),
    /** For a holdings check that an operator starts. */
    checkSql: open({ connections: 2, statementTimeoutMs: CHECK_TIMEOUT_MS }),
  };
  const clock = await followDatabaseClock(pools.sql, log);
  await settleInWithoutStars(pools.sql);
  const redis = openRedis(settings.REDIS_URL, log);
  const mirror = observedMirror(settings.MIRROR_NODE_URL, log, metrics);
  const { EVENT_VOTES_TOPIC_ID: event, ASSET_VOTES_TOPIC_ID: asset } = settings;
  // Both can be compared, or none where one is not set.
  const topics = event === undefined || asset === undefined ? [] : [event, asset];
  const payer = settings.HEDERA_OPERATOR_ID;
  const journal = watchJournal({
    ...{ sql: pools.sql, mirror, topics, payer, log },
    onCaughtUp: forget,
  });
  await Promise.race([journal.firstState, delay(FIRST_STATE_MS)]);
  return {
    ...pools,
    settings,
    log,
    metrics,
    clock,
    redis,
    mirror,
    /** Whether the journal holds what its topics hold. */
    journal,
    async close() {
      await journal.close();
      clock.stop();
      const ends = Object.values(pools).map((pool) => pool.end({ timeout: 1 }));
      await Promise.all([mirror.close(), closeRedis(redis), ...ends]);
    },
  };
}

/** What a web process cannot do without. */
export const WEB_SETTINGS = [
  "DATABASE_URL",
  "REDIS_URL",
  "MIRROR_NODE_URL",
  ...COLLECTION_SETTINGS,
] as const;
export type WebSettings = Readonly<With<(typeof WEB_SETTINGS)[number]>>;

/**
 * Before anything outside is asked or started: what is wrong with a setting is not hidden by a
 * server that is away, and a start that is refused has changed nothing.
 *
 * @throws ConfigurationError where `PUBLIC_URL` is missing, or a trusted proxy is no range
 */
export function checkAddresses(settings: Settings): void {
  ownUrl(settings);
  clientAddress(settings.TRUSTED_PROXIES);
}
