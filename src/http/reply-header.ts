import type { ServerResponse } from "node:http";
import type { Context } from "hono";

/**
 * Sets a header of the reply; a handler that sets the same one later wins. Once the reply has
 * left (a deadline answered first) it is too late, which does no harm.
 *
 * Behind our server it goes straight to Node's own reply. `c.header` makes a `Headers` object
 * of the reply instead, which is then copied twice: with the headers that every reply carries
 * that is 12 µs of a request, more than all of our routing.
 *
 * Not for `Content-Type`: the adapter writes its own default over it.
 */
export function setReplyHeader(c: Context, name: string, value: string): void {
  const outgoing = outgoingOf(c);
  if (outgoing === undefined) c.header(name, value);
  else if (!outgoing.headersSent) outgoing.setHeader(name, value);
}

/** Adds a request header to those by which the reply varies. */
export function varyBy(c: Context, name: string): void {
  const outgoing = outgoingOf(c);
  const known = outgoing?.getHeader("Vary");
  if (outgoing === undefined) c.header("Vary", name, { append: true });
  else setReplyHeader(c, "Vary", known === undefined ? name : `${known}, ${name}`);
}

/** Node's reply, which `serveHttp` passes along; undefined in tests that call the app itself. */
export function outgoingOf(c: Context): ServerResponse | undefined {
  return (c.env as { outgoing?: ServerResponse } | undefined)?.outgoing;
}

/** Nothing inline runs, nothing comes from elsewhere, no page frames this one, forms stay here. */
const POLICY = {
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": "'self'",
  "img-src": "'self'",
  "connect-src": "'self'",
  "base-uri": "'none'",
  "form-action": "'self'",
  "frame-ancestors": "'none'",
};

/** A content-security-policy for pages. @param changes by directive, where a page needs another */
export function pagePolicy(changes: Readonly<Record<`${string}-${string}`, string>> = {}): string {
  const policy = Object.entries({ ...POLICY, ...changes });
  return policy.map(([directive, sources]) => `${directive} ${sources}`).join("; ");
}

export function securePage(c: Context, policy: string): void {
  c.header("Content-Security-Policy", policy);
  c.header("Cross-Origin-Opener-Policy", "same-origin");
  c.header("Cross-Origin-Resource-Policy", "same-origin");
  // Without the page's address in `Origin`, no form of our own could be recognised.
  c.header("Referrer-Policy", "same-origin");
  c.header("X-Frame-Options", "DENY");
}
