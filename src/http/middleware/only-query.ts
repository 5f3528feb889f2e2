import type { Context, MiddlewareHandler } from "hono";
import { TerminalError } from "../../errors.ts";

/** Lets a request pass whose query has these parameters and no other. @throws as `checkQuery` */
export function onlyQuery(...names: readonly string[]): MiddlewareHandler {
  return function onlyQuery(c, next) {
    checkQuery(c, names);
    return next();
  };
}

/** @throws TerminalError `INVALID_REQUEST` with the first parameter that is not expected */
export function checkQuery(c: Context, names: readonly string[] = []): void {
  if (!c.req.url.includes("?")) return;
  const field = Object.keys(c.req.queries()).find((name) => !names.includes(name));
  if (field === undefined) return;
  throw new TerminalError("INVALID_REQUEST", "The query has a parameter that is not expected.", {
    field,
  });
}
