import { schemaState } from "../store/migrate.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { evictionPolicy, probeWrites, type Redis } from "../store/redis.ts";
import type { DependencyCheck } from "./health.ts";

/** A probe waits no longer; the orchestrator asks again. */
const DEADLINE_MS = 1_000;

/** Postgres and the schema in it: without either, nothing here works. */
export function checkPostgres(sql: Sql): DependencyCheck {
  return async () => {
    try {
      const schema = await runStatement(schemaState(sql), DEADLINE_MS);
      return schema === "old" || schema === "other" ? "down" : "ok";
    } catch {
      return "down";
    }
  };
}

/**
 * Redis may be away or refuse writes: limits and snapshots do without it. What it may not do is
 * evict, for that loses queued work in silence.
 */
export function checkRedis(redis: Redis): DependencyCheck {
  return async () => {
    try {
      if ((await evictionPolicy(redis, DEADLINE_MS)) !== "noeviction") return "down";
      await probeWrites(redis, DEADLINE_MS);
      return "ok";
    } catch {
      return "degraded";
    }
  };
}
