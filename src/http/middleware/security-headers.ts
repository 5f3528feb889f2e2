import type { MiddlewareHandler } from "hono";
import { outgoingOf } from "../reply-header.ts";

/**
 * For replies that are data: nothing may be run, framed, sniffed or passed on. A page that
 * needs more (the console, say) sets its own Content-Security-Policy, which stands.
 */
export const SECURITY_HEADERS = [
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"],
  ["Referrer-Policy", "no-referrer"],
  ["Strict-Transport-Security", "max-age=31536000"],
  ["X-Content-Type-Options", "nosniff"],
] as const;

/** Sets what a reply has not set itself. */
export function securityHeaders(): MiddlewareHandler {
  return async function securityHeaders(c, next) {
    const outgoing = outgoingOf(c);
    if (outgoing !== undefined) {
      for (const [name, value] of SECURITY_HEADERS) outgoing.setHeader(name, value);
      return next();
    }
    await next();
    const { headers } = c.res;
    for (const [name, value] of SECURITY_HEADERS) if (!headers.has(name)) headers.set(name, value);
  };
}
