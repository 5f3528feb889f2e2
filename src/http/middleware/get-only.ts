import type { MiddlewareHandler } from "hono";
import { methodNotAllowed } from "../problem.ts";

/**
 * "Only GET is accepted": every other method, HEAD and OPTIONS included, is 405 on every path.
 * It comes after the rate limit, for which every request counts.
 */
export const getOnly: MiddlewareHandler = async function getOnly(c, next) {
  return c.req.method === "GET" ? next() : methodNotAllowed(c, { allow: "GET" });
};
