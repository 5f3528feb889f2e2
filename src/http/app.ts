import { Hono } from "hono";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { tracing } from "../tracing.ts";
import { everyReply } from "./middleware/every-reply.ts";
import { requestLog, requestNote, traceRequests } from "./middleware/request-log.ts";
import { methodNotAllowed, problem, problemOf } from "./problem.ts";

/** An application with the paths it answers: `publicApi`, `healthRoutes`, the voting API, … */
export interface Mount {
  /** Where its own paths begin; "/" when they are whole already. */
  readonly path: string;
  readonly app: Hono;
}

export interface AppDeps {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly mounts: readonly Mount[];
  /** The service's clock, epoch ms, which dates replies; this machine's when absent. */
  readonly now?: () => number;
}

/**
 * Makes the application: what every request has in common, whichever part answers it. A request
 * has an id and one line in the log; its reply has safe headers. Any error becomes the reply that
 * `problem.ts` has for it.
 */
export function createApp({ log, metrics, mounts, now = Date.now }: AppDeps): Hono {
  const app = new Hono();
  if (tracing) app.use("/voting/*", traceRequests(tracing));
  app.use(everyReply(now), requestLog(requestNote(log, metrics)));
  for (const { path, app: mounted } of mounts) app.route(path, mounted);
  app.notFound((c) => problem(c, "NOT_FOUND"));
  app.onError((error, c) => problemOf(error, c, log));
  return app;
}

/** Answers 405 on each path of an application for the methods that it has no handler for. */
export function refuseOtherMethods(app: Hono): void {
  const methods = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    if (method === "ALL") continue;
    const known = methods.get(path) ?? new Set();
    // Hono answers HEAD by what answers GET.
    for (const one of method === "GET" ? ["GET", "HEAD"] : [method]) known.add(one);
    methods.set(path, known);
  }
  for (const [path, known] of methods) {
    const allow = [...known].sort().join(", ");
    app.all(path, (c, next) => {
      // Its own handler had it and passed it on: nothing is there for any method.
      if (known.has(c.req.method)) return next();
      return methodNotAllowed(c, { allow, code: "METHOD_NOT_ALLOWED" });
    });
  }
}
