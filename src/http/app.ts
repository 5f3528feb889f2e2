import { Hono } from "hono";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { tracing } from "../tracing.ts";
import { everyReply } from "./middleware/every-reply.ts";
import { requestLog, requestNote } from "./middleware/request-log.ts";
import { traceRequests } from "./middleware/trace-requests.ts";
import { problem, problemOf } from "./problem.ts";

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
