import type { Context } from "hono";

/**
 * A cookie with a secret: no script reads it, and no other site sends it.
 *
 * @param given.isSecure where it is, the cookie is `Secure` and bound to this very host (`__Host-`);
 *   on plain http, for a machine of one's own, browsers would keep neither
 */
export function hostCookie(given: {
  readonly name: string;
  readonly isSecure: boolean;
  readonly lifetimeMs: number;
}) {
  const { isSecure, lifetimeMs } = given;
  const name = isSecure ? `__Host-${given.name}` : given.name;
  // As it was set: a library would decode it, at 30 ms for a header full of broken escapes.
  // Java's client puts it between quotes.
  const written = new RegExp(`(?:^|;)[ \\t]*${name}="?([^;"]*)`);
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
  const set = (c: Context, value: string, seconds: number): void =>
    c.header("Set-Cookie", `${name}=${value}; Max-Age=${seconds}; ${attributes}`);
  return {
    /** The secret a request brings; empty without one. */
    read: (c: Context): string => written.exec(c.req.header("cookie") ?? "")?.[1]?.trim() ?? "",
    write: (c: Context, secret: string): void => set(c, secret, lifetimeMs / 1_000),
    clear: (c: Context): void => set(c, "", 0),
  };
}

/**
 * The token of a header `Authorization: Bearer` of any form: the scheme in any case, then
 * spaces alone (RFC 9110, section 11.4; RFC 6750, section 2.1).
 *
 * @param header its value, without white space at its ends, as every parser gives it
 * @returns undefined without a header, for another scheme, and for a bare `Bearer`
 */
export function bearerToken(header: string | undefined): string | undefined {
  return /^bearer +(.+)$/i.exec(header ?? "")?.[1];
}
