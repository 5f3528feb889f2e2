import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { Logger } from "../../log.ts";
import type { Metrics } from "../../metrics.ts";

/** What handlers may add to the line and to the context of a request. */
export interface RequestVariables {
  requestId: string;
  /** The API key that the request came with, once it was checked. */
  keyId?: string;
}

/** Nobody needs more of a path to recognise it, and a client chooses its length. */
const PATH_CHARACTERS_MAX = 200;

/**
 * One line and one observation per request. The query string is left out, because it may
 * hold an API key; headers are left out altogether.
 */
export function requestLog(log: Logger, metrics: Metrics): MiddlewareHandler {
  // The line has fields of our own choosing, none secret; to look for secrets in it would cost
  // twice what writing it does (9 µs against 3).
  const lines = log.child({}, { redact: [] });
  return async function requestLog(c, next) {
    const started = performance.now();
    await next();
    const ms = performance.now() - started;
    const { method } = c.req;
    const { status } = c.res;
    // The pattern, not the path: the number of time series stays that of the routes.
    const route = status === 404 ? "none" : routePath(c, -1);
    metrics.httpRequests.observe({ method, route, status }, ms / 1000);
    lines.info(
      {
        requestId: c.get("requestId"),
        method,
        path: c.req.path.slice(0, PATH_CHARACTERS_MAX),
        status,
        ms: Math.round(ms * 100) / 100,
        keyId: c.get("keyId"),
      },
      "request",
    );
  };
}
