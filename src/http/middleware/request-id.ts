import { randomUUID } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import type { Asking } from "../asking.ts";
import { setReplyHeader } from "../reply-header.ts";

/** What a proxy may hand on: short, and nothing that bends a line of the log. */
const GIVEN = /^[\w\-=]{1,255}$/;

/** The name of a request: its `X-Request-Id` where a proxy has given it one, else a new one. */
export function nameOf({ req }: Asking): string {
  const given = req.header("x-request-id");
  return given !== undefined && GIVEN.test(given) ? given : randomUUID();
}

/** Names each request, and tells the name. */
export function requestId(): MiddlewareHandler {
  return async function requestId(c, next) {
    const id = nameOf(c);
    c.set("requestId", id);
    setReplyHeader(c, "X-Request-Id", id);
    await next();
  };
}
