import { type Context, Hono } from "hono";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { schemaState } from "../store/migrate.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { evictionPolicy, probeWrites, type Redis } from "../store/redis.ts";
import { refuseOtherMethods } from "./app.ts";
import type { OperatorAccess } from "./operator-access.ts";
import { problem } from "./problem.ts";

/**
 * How a dependency is: `degraded` means that the service does without it for now, `down`
 * that this process must get no requests.
 */
export type DependencyState = "ok" | "degraded" | "down";

/** Asks one dependency; what it throws counts as `down`, or as `degraded` where it may be away. */
export type DependencyCheck = () => Promise<DependencyState>;

export interface HealthDeps {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** By the name that `/readyz` shows; see `checkPostgres`. */
  readonly dependencies: Readonly<Record<string, DependencyCheck>>;
  readonly isDraining: () => boolean;
  /** How the journal agrees with its topics, where this process knows. */
  readonly journal?: (() => string) | undefined;
  /** Keeps `/metrics`. */
  readonly access: OperatorAccess;
  readonly refreshMetrics?: (() => Promise<void>) | undefined;
}

/** `/healthz`: the process is up. `/readyz`: it may get requests. `/metrics`: for Prometheus. */
export function healthRoutes(deps: HealthDeps): Hono {
  const app = new Hono();
  const look = oncePer(LOOK_EVERY_MS, () => lookAt(deps.dependencies));
  app.get("/healthz", (c) => {
    c.header("Cache-Control", "no-store");
    return c.json({ status: "ok" });
  });
  app.get("/readyz", async (c) => readiness(c, deps, await look()));
  app.get("/metrics", deps.access.guard("metrics"), (c) => metrics(c, deps));
  refuseOtherMethods(app);
  return app;
}

/** Everyone may ask, as often as they like; what is asked behind it is asked this often. */
const LOOK_EVERY_MS = 1_000;

type States = Readonly<Record<string, DependencyState>>;

async function lookAt(dependencies: HealthDeps["dependencies"]): Promise<States> {
  const looks = Object.entries(dependencies).map(
    async ([name, check]) => [name, await check()] as const,
  );
  return Object.fromEntries(await Promise.all(looks));
}

/** All who ask within the time share one look. */
function oncePer<T>(ms: number, look: () => Promise<T>): () => Promise<T> {
  let latest: { readonly at: number; readonly seen: Promise<T> } | undefined;
  return () => {
    const now = performance.now();
    if (latest === undefined || now - latest.at >= ms) latest = { at: now, seen: look() };
    return latest.seen;
  };
}

function readiness(c: Context, deps: HealthDeps, dependencies: States): Response {
  const isDraining = deps.isDraining();
  const isReady = !isDraining && !Object.values(dependencies).includes("down");
  c.header("Cache-Control", "no-store");
  // Every replica is behind at once, and reads go on: a probe must not take them away.
  const journal = deps.journal?.();
  if (isReady) return c.json({ status: "ok", journal, dependencies });
  deps.log.warn({ dependencies, isDraining }, "not ready");
  return problem(c, "UNAVAILABLE", {
    details: { status: isDraining ? "draining" : "down", dependencies },
  });
}

async function metrics(c: Context, deps: HealthDeps): Promise<Response> {
  await deps.refreshMetrics?.();
  const { registry } = deps.metrics;
  return c.body(await registry.metrics(), 200, { "Content-Type": registry.contentType });
}

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
