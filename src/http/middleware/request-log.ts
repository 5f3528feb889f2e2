import type { SpanStatusCode } from "@opentelemetry/api";
import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { Logger } from "../../log.ts";
import type { Metrics } from "../../metrics.ts";
import type { Tracing } from "../../tracing.ts";
import { precheckedOf } from "../fast-path/request-like.ts";

/** What handlers may add to the line and to the context of a request. */
export interface RequestVariables {
  requestId: string;
  /** The API key that the request came with, once it was checked. */
  keyId?: string;
}

/** So much of a path is enough to recognise it, and a client chooses its length. */
const PATH_CHARACTERS_MAX = 200;
/** Keys and operators' tokens, which a client may put into a path by mistake. */
const KEY = /(starboard_(?:live|operator)_)\w+/g;

export interface RequestFacts {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  /** The pattern, not the path: the number of time series stays that of the routes. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly keyId: string | undefined;
}

export type RequestNote = (facts: RequestFacts) => void;

/**
 * One line and one observation per request. The query string is left out, because it may
 * hold an API key; headers are left out altogether.
 */
export function requestNote(log: Logger, metrics: Metrics): RequestNote {
  // The line has fields of our own choosing, none secret; to look for secrets in it would cost
  // twice what writing it does (9 µs against 3).
  const lines = log.child({}, { redact: [] });
  return ({ requestId, method, path, route, status, ms, keyId }) => {
    metrics.httpRequests.observe({ method, route, status }, ms / 1000);
    const rounded = Math.round(ms * 100) / 100;
    lines.info({ requestId, method, path, status, ms: rounded, keyId }, "request");
  };
}

/** Notes each request when its handlers are done. */
export function requestLog(note: RequestNote): MiddlewareHandler<{ Variables: RequestVariables }> {
  return async function requestLog(c, next) {
    const started = precheckedOf(c)?.startedAt ?? performance.now();
    await next();
    const { status } = c.res;
    note({
      requestId: c.get("requestId"),
      method: c.req.method,
      path: c.req.path.slice(0, PATH_CHARACTERS_MAX).replace(KEY, "$1…"),
      route: routePattern(c),
      status,
      ms: performance.now() - started,
      keyId: c.get("keyId"),
    });
  };
}

/**
 * The pattern of the route that a request is for, once it is answered: metrics and traces have a
 * series for each, so a client's own words are never in it. Each layer that looked at the request
 * matches too, and what would have answered had no other part; the most particular is the route.
 *
 * @returns `none` where nothing is found
 */
export function routePattern(c: Context): string {
  if (c.res.status === 404) return "none";
  let route = { path: "", weight: -1 };
  for (const { path } of matchedRoutes(c)) {
    const weight = path.endsWith("/*") ? path.length - 2 : path.length + 0.5;
    if (weight >= route.weight) route = { path, weight };
  }
  return route.path;
}

/** The standard's number: its package is not loaded for it. */
const ERROR: SpanStatusCode.ERROR = 2;
const SERVER_ERRORS_FROM = 500;

export function traceRequests(tracing: Tracing): MiddlewareHandler {
  return async function traceRequests(c, next) {
    const { method } = c.req;
    const traceparent = c.req.header("traceparent") ?? "";
    await tracing.inSpan(
      method,
      async (span) => {
        await next();
        const { status } = c.res;
        const route = routePattern(c);
        span.updateName(`${method} ${route}`);
        span.setAttributes({
          "http.request.method": method,
          "http.route": route,
          "http.response.status_code": status,
        });
        if (status >= SERVER_ERRORS_FROM) span.setStatus({ code: ERROR });
      },
      { traceparent, isRequest: true },
    );
  };
}
