import type { MiddlewareHandler } from "hono";
import type { Clock } from "../../clock.ts";
import type { ClientAddress } from "../middleware/client-address.ts";
import { localWindow } from "../middleware/sliding-window.ts";
import type { GateVariables } from "./gate.ts";
import { signInPage } from "./sign-in.ts";

const WINDOW_MS = 60_000;

/**
 * Bounds the requests of clients that are not signed in: to learn that costs a statement, of which
 * operators wait for the same few connections. Requests of operators do not count.
 *
 * @param given.limit per client and 60 s, in this process
 */
export function guestLimit(given: {
  readonly client: ClientAddress;
  readonly clock: Clock;
  readonly limit: number;
}): MiddlewareHandler<{ Variables: GateVariables }> {
  const window = localWindow({ limit: given.limit, windowMs: WINDOW_MS });
  return async function guestLimit(c, next) {
    const client = given.client(c);
    const { accepted, waitMs } = window.take(client, given.clock.now());
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
