import { schemaState } from "../store/migrate.ts";
import { inTime, type Sql } from "../store/postgres.ts";
import { inRedisTime, type Redis } from "../store/redis.ts";
import type { DependencyCheck } from "./health.ts";

/** A probe waits no longer; the orchestrator asks again. */
const DEADLINE_MS = 1_000;

/** Postgres and the schema in it: without either, nothing here works. */
export function checkPostgres(sql: Sql): DependencyCheck {
  return async () => {
    try {
      return (await inTime(schemaState(sql), DEADLINE_MS)) === "old" ? "down" : "ok";
    } catch {
      return "down";
    }
  };
}

/**
 * Redis may be away: limits and snapshots do without it. What it may not do is evict, for
 * that loses queued work in silence.
 */
export function checkRedis(redis: Redis): DependencyCheck {
  return async () => {
    try {
      const memory = await inRedisTime(redis.info("memory"), DEADLINE_MS);
      const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? "noeviction";
      return policy === "noeviction" ? "ok" : "down";
    } catch {
      return "degraded";
    }
  };
}
