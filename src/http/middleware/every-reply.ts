import { randomUUID } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import type { RequestLike } from "../fast-path/request-like.ts";
import { outgoingOf, setReplyHeader } from "../reply-header.ts";

/** What a proxy may hand on: short, and no character that breaks a line of the log. */
const GIVEN = /^[\w\-=]{1,255}$/;

/** The name of a request: its `X-Request-Id` where a proxy has given it one, else a new one. */
export function nameOf({ req }: RequestLike): string {
  const given = req.header("x-request-id");
  return given !== undefined && GIVEN.test(given) ? given : randomUUID();
}

const SECOND_MS = 1_000;

/**
 * The `Date` of a reply by the service's clock. Node's own would be this machine's, and an audit
 * that compares rankings with records goes by it. Its text is made once a second.
 *
 * @param now epoch milliseconds
 */
export function dateByClock(now: () => number): () => string {
  let second = Number.NaN;
  let text = "";
  return () => {
    const current = Math.floor(now() / SECOND_MS);
    if (current !== second) {
      second = current;
      text = new Date(current * SECOND_MS).toUTCString();
    }
    return text;
  };
}

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

/** Names each request, and gives each reply that name, its date, and what it has not set itself. */
export function everyReply(now: () => number): MiddlewareHandler {
  const date = dateByClock(now);
  return async function everyReply(c, next) {
    const id = nameOf(c);
    c.set("requestId", id);
    setReplyHeader(c, "X-Request-Id", id);
    setReplyHeader(c, "Date", date());
    const outgoing = outgoingOf(c);
    for (const [name, value] of SECURITY_HEADERS) outgoing?.setHeader(name, value);
    await next();
    if (outgoing !== undefined) return;
    const { headers } = c.res;
    for (const [name, value] of SECURITY_HEADERS) if (!headers.has(name)) headers.set(name, value);
  };
}
