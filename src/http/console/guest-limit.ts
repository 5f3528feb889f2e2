import type { MiddlewareHandler } from "hono";
import { localWindow } from "../middleware/sliding-window.ts";
import type { Gate, GateVariables } from "./gate.ts";
import type { ConsoleDeps } from "./page.ts";
import { signInPage } from "./sign-in.ts";

const WINDOW_MS = 60_000;

/**
 * Bounds the requests of clients that are not signed in: to learn that costs a statement, of which
 * operators wait for the same few connections. Requests of operators do not count, and those of a
 * session that is known here pass whatever others ask from the same address: that of a proxy, say.
 * The bound is per client and 60 s, in this process.
 */
export function guestLimit(
  deps: ConsoleDeps,
  gate: Gate,
): MiddlewareHandler<{ Variables: GateVariables }> {
  const window = localWindow({ limit: deps.guestRateLimit, windowMs: WINDOW_MS });
  return async function guestLimit(c, next) {
    if (gate.wasFound(c)) return next();
    const client = deps.client(c);
    const { accepted, waitMs } = window.take(client, deps.clock.now());
    if (accepted) {
      await next();
      if (c.get("isSignedIn")) window.giveBack(client);
      return;
    }
    const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
    c.header("Retry-After", String(seconds));
    const flaw = `Too many requests from your address. Try again in ${seconds} s.`;
    return signInPage(c, { status: 429, next: "/ops", flaw });
  };
}
