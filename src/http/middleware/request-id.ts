import { randomUUID } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import type { RequestLike } from "../fast-path/request-like.ts";
import { setReplyHeader } from "../reply-header.ts";

/** What a proxy may hand on: short, and no character that breaks a line of the log. */
const GIVEN = /^[\w\-=]{1,255}$/;

/** The name of a request: its `X-Request-Id` where a proxy has given it one, else a new one. */
export function nameOf({ req }: RequestLike): string {
  const given = req.header("x-request-id");
  return given !== undefined && GIVEN.test(given) ? given : randomUUID();
}

/** Gives each request an id, which its reply carries. */
export function requestId(): MiddlewareHandler {
  return async function requestId(c, next) {
    const id = nameOf(c);
    c.set("requestId", id);
    setReplyHeader(c, "X-Request-Id", id);
    await next();
  };
}
