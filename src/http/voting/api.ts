import { Hono, type MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { refuseOtherMethods } from "../app.ts";
import type { RateLimit } from "../middleware/rate-limit.ts";
import { outgoingOf, varyBy } from "../reply-header.ts";
import type { votingRoutes } from "./routes.ts";

/** Browsers may remember a preflight this long. */
const PREFLIGHT_KEPT_SECONDS = 600;

/**
 * Everything under `/voting`. Order of checks: rate limit, method, then what each operation asks.
 */
export function votingApi(given: {
  /** Of browser clients (`VOTING_ORIGINS`). */
  readonly origins: readonly string[];
  readonly limit: RateLimit;
  readonly operations: ReturnType<typeof votingRoutes>;
  readonly live: Hono;
}): Hono {
  const app = new Hono();
  app.use(crossOrigin(given.origins), given.limit.middleware);
  app.route("/", given.live);
  app.route("/", given.operations);
  refuseOtherMethods(app);
  return app;
}

/**
 * CORS for requests with an `Origin`. Hono's handler copies the headers of each reply, and
 * a client that is no browser pays nothing for it.
 */
function crossOrigin(origins: readonly string[]): MiddlewareHandler {
  const withOrigin = cors({
    origin: [...origins],
    allowMethods: ["GET", "POST", "DELETE"],
    allowHeaders: ["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID"],
    exposeHeaders: ["Idempotent-Replayed", "Retry-After", "RateLimit", "RateLimit-Policy"],
    maxAge: PREFLIGHT_KEPT_SECONDS,
  });
  return async function crossOrigin(c, next) {
    // Hono's handler answers every OPTIONS as a preflight, and a preflight names a method.
    const isRefused =
      c.req.method === "OPTIONS" && c.req.header("access-control-request-method") === undefined;
    if (c.req.header("origin") === undefined || isRefused) {
      varyBy(c, "Origin");
      return next();
    }
    const reply = await withOrigin(c, next);
    // Hono's own `Vary` would take the place of the one on Node's reply.
    const other = outgoingOf(c)?.getHeader("Vary");
    if (other !== undefined) c.header("Vary", String(other), { append: true });
    return reply;
  };
}
