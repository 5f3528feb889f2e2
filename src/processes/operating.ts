import { FOLD_TIMEOUT_MS } from "../catalogue/seasons.ts";
import type { Clock } from "../clock.ts";
import type { MirrorNode } from "../ledger/mirror-node.ts";
import type { Logger } from "../log.ts";
import { openPostgres, type Sql } from "../store/postgres.ts";
import type { QueueBackend } from "../store/queue-connection.ts";
import { openQueueReader, type QueueReader } from "../store/queue-reader.ts";
import type { Redis } from "../store/redis.ts";
import { checkByHand, type HoldingsCheckByHand } from "../upkeep/holdings-check-by-hand.ts";
import type { WebSettings } from "./web.ts";

/** What operators can set going at the console. */
export interface Operating {
  /** A small pool whose statements may take their time: a season is folded from all its stars. */
  readonly patientSql: Sql;
  readonly checks: HoldingsCheckByHand;
  readonly queues: QueueReader;
  /** Wakes a publisher somewhere. */
  readonly wake: () => void;
  /** Ends what is under way early and in order. */
  close(): Promise<void>;
}

const CHECK_TIMEOUT_MS = 60_000;

/** Opens it; nothing connects before an operator wants it. */
export function openOperating(parts: {
  readonly settings: WebSettings;
  readonly role: string | undefined;
  readonly redis: Redis;
  readonly mirror: MirrorNode;
  readonly clock: Clock;
  readonly log: Logger;
  readonly wake: () => void;
  /** Where BullMQ's queues live; the service's Redis when absent. */
  readonly backend?: QueueBackend | undefined;
}): Operating {
  const { settings, role, redis, wake, backend } = parts;
  const open = (statementTimeoutMs: number) =>
    openPostgres(settings.DATABASE_URL, { role, connections: 2, statementTimeoutMs });
  const patientSql = open(FOLD_TIMEOUT_MS);
  const checkSql = open(CHECK_TIMEOUT_MS);
  const checks = checkByHand({
    ...parts,
    sql: checkSql,
    collections: { A: settings.COLLECTION_A_ID, B: settings.COLLECTION_B_ID },
  });
  const queues = openQueueReader({
    backend: backend ?? { redisUrl: settings.REDIS_URL },
    isThere: () => backend !== undefined || redis.isReady,
  });
  return {
    patientSql,
    checks,
    queues,
    wake,
    async close() {
      await Promise.all([checks.close(), queues.close()]);
      await Promise.all([patientSql.end({ timeout: 1 }), checkSql.end({ timeout: 1 })]);
    },
  };
}
