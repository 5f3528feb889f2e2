import { schemaState } from "../store/migrate.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { evictionPolicy, type Redis, runCommand } from "../store/redis.ts";
import type { DependencyCheck } from "./health.ts";

/** A probe waits no longer; the orchestrator asks again. */
const DEADLINE_MS = 1_000;
/** Written to learn whether Redis takes writes: a full one, or a replica, still answers reads. */
const PROBE_KEY = "starboard:ready";
const PROBE_LIFETIME = { type: "EX", value: 60 } as const;

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
      await runCommand(redis.set(PROBE_KEY, "1", { expiration: PROBE_LIFETIME }), DEADLINE_MS);
      return "ok";
    } catch {
      return "degraded";
    }
  };
}
