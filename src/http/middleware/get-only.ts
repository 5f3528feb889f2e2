import type { MiddlewareHandler } from "hono";
import { methodNotAllowed } from "../problem.ts";
import type { RateLimit } from "./rate-limit.ts";

/**
 * "Only GET is accepted": every other method, HEAD and OPTIONS included, is 405 on every
 * path. It comes before the rate limit, so it counts for nothing, but shows how that stands.
 */
export function getOnly(limit: RateLimit): MiddlewareHandler {
  return async function getOnly(c, next) {
    if (c.req.method === "GET") return next();
    await limit.announce(c);
    return methodNotAllowed(c);
  };
}
