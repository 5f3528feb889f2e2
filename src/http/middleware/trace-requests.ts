import type { SpanStatusCode } from "@opentelemetry/api";
import type { MiddlewareHandler } from "hono";
import type { Tracing } from "../../tracing.ts";
import { routePattern } from "./route-pattern.ts";

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
