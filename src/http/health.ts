import { createHash, timingSafeEqual } from "node:crypto";
import { type Context, Hono } from "hono";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
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
  /** By the name that `/readyz` shows; see `dependencies.ts`. */
  readonly dependencies: Readonly<Record<string, DependencyCheck>>;
  /** True from the moment this process is told to stop. */
  readonly isDraining: () => boolean;
  /** Opens `/metrics`; without one it stays closed. */
  readonly operatorToken?: string | undefined;
  /** Brings gauges up to date before they are read. */
  readonly refreshMetrics?: (() => Promise<void>) | undefined;
}

/** `/healthz`: the process is up. `/readyz`: it may get requests. `/metrics`: for Prometheus. */
export function healthRoutes(deps: HealthDeps): Hono {
  const app = new Hono();
  app.get("/healthz", (c) => {
    c.header("Cache-Control", "no-store");
    return c.json({ status: "ok" });
  });
  app.get("/readyz", (c) => readiness(c, deps));
  app.get("/metrics", (c) => metrics(c, deps));
  return app;
}

async function readiness(c: Context, deps: HealthDeps): Promise<Response> {
  const names = Object.keys(deps.dependencies);
  const states = await Promise.all(Object.values(deps.dependencies).map((check) => check()));
  const dependencies = Object.fromEntries(names.map((name, index) => [name, states[index]]));
  const isDraining = deps.isDraining();
  const isReady = !isDraining && !states.includes("down");
  c.header("Cache-Control", "no-store");
  if (isReady) return c.json({ status: "ok", dependencies });
  deps.log.warn({ dependencies, isDraining }, "not ready");
  return problem(c, "UNAVAILABLE", {
    details: { status: isDraining ? "draining" : "down", dependencies },
  });
}

async function metrics(c: Context, deps: HealthDeps): Promise<Response> {
  const given = /^bearer[ \t]+(.+)$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? "";
  if (deps.operatorToken === undefined || !isSameText(given, deps.operatorToken)) {
    return problem(c, "INVALID_OPERATOR_TOKEN");
  }
  await deps.refreshMetrics?.();
  const { registry } = deps.metrics;
  return c.body(await registry.metrics(), 200, { "Content-Type": registry.contentType });
}

/** Compares digests, so that time tells neither content nor length. */
export function isSameText(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
