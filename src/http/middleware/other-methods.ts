import type { Hono } from "hono";
import { methodNotAllowed } from "../problem.ts";

/** Answers 405 on each path of an application for the methods that it has no handler for. */
export function refuseOtherMethods(app: Hono): void {
  const methods = new Map<string, Set<string>>();
  for (const { path, method } of app.routes) {
    if (method === "ALL") continue;
    const known = methods.get(path) ?? new Set();
    // Hono answers HEAD by what answers GET.
    for (const one of method === "GET" ? ["GET", "HEAD"] : [method]) known.add(one);
    methods.set(path, known);
  }
  for (const [path, known] of methods) {
    const allow = [...known].sort().join(", ");
    app.all(path, (c, next) => {
      // Its own handler had it and passed it on: nothing is there for any method.
      if (known.has(c.req.method)) return next();
      return methodNotAllowed(c, { allow, code: "METHOD_NOT_ALLOWED" });
    });
  }
}
