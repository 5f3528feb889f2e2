import type { Context } from "hono";
import { getCookie } from "hono/cookie";

/** A cookie with a secret: no script reads it, and no other site sends it. */
export interface HostCookie {
  /** The secret a request brings; empty without one. */
  read(c: Context): string;
  write(c: Context, secret: string): void;
  clear(c: Context): void;
}

/**
 * @param given.isSecure where it is, the cookie is `Secure` and bound to this very host (`__Host-`);
 *   on plain http, for a machine of one's own, browsers would keep neither
 */
export function hostCookie(given: {
  readonly name: string;
  readonly isSecure: boolean;
  readonly lifetimeMs: number;
}): HostCookie {
  const { isSecure, lifetimeMs } = given;
  const name = isSecure ? `__Host-${given.name}` : given.name;
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
  const set = (c: Context, value: string, seconds: number): void =>
    c.header("Set-Cookie", `${name}=${value}; Max-Age=${seconds}; ${attributes}`);
  return {
    read: (c) => getCookie(c, name) ?? "",
    write: (c, secret) => set(c, secret, lifetimeMs / 1_000),
    clear: (c) => set(c, "", 0),
  };
}
