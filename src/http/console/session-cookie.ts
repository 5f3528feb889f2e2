import { createHash } from "node:crypto";
import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import { OPERATOR_SESSION_MS } from "../../keys/operator-session.ts";
import { isSameText } from "../operator-access.ts";

/** The console's own cookie: no script reads it, and no other site sends it. */
export interface SessionCookie {
  /** The secret a request brings; empty without one. */
  read(c: Context): string;
  write(c: Context, secret: string): void;
  clear(c: Context): void;
}

/**
 * @param publicUrl where clients find us: on https the cookie is `Secure` and bound to this very
 *   host (`__Host-`); on plain http, for a machine of one's own, neither would be kept
 */
export function sessionCookie(publicUrl: string): SessionCookie {
  const isSecure = new URL(publicUrl).protocol === "https:";
  const name = isSecure ? "__Host-starboard-operator" : "starboard-operator";
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;
  const set = (c: Context, value: string, seconds: number): void =>
    c.header("Set-Cookie", `${name}=${value}; Max-Age=${seconds}; ${attributes}`);
  return {
    read: (c) => getCookie(c, name) ?? "",
    write: (c, secret) => set(c, secret, OPERATOR_SESSION_MS / 1_000),
    clear: (c) => set(c, "", 0),
  };
}

/** What the forms of a session carry: it follows from the secret, and reveals nothing of it. */
export function formToken(secret: string): string {
  return createHash("sha256").update(`starboard form ${secret}`).digest("base64url");
}

export function isFormToken(given: string, secret: string): boolean {
  return isSameText(given, formToken(secret));
}
