import { randomUUID } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { setReplyHeader } from "../reply-header.ts";

/** What a proxy may hand on: short, and nothing that bends a line of the log. */
const GIVEN = /^[\w\-=]{1,255}$/;

/** Names each request, by `X-Request-Id` where a proxy has named it already. */
export function requestId(): MiddlewareHandler {
  return async function requestId(c, next) {
    const given = c.req.header("x-request-id") ?? "";
    const id = GIVEN.test(given) ? given : randomUUID();
    c.set("requestId", id);
    setReplyHeader(c, "X-Request-Id", id);
    await next();
  };
}
