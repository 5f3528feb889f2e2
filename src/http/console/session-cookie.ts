import { createHash } from "node:crypto";
import { OPERATOR_SESSION_MS } from "../../keys/operator-session.ts";
import { type HostCookie, hostCookie } from "../host-cookie.ts";
import { isSameText } from "../operator-access.ts";

/**
 * The console's own cookie.
 *
 * @param publicUrl where clients find us
 */
export function sessionCookie(publicUrl: string): HostCookie {
  return hostCookie({
    name: "starboard-operator",
    isSecure: new URL(publicUrl).protocol === "https:",
    lifetimeMs: OPERATOR_SESSION_MS,
  });
}

/** What the forms of a session carry: it follows from the secret, and reveals nothing of it. */
export function formToken(secret: string): string {
  return createHash("sha256").update(`starboard form ${secret}`).digest("base64url");
}

export function isFormToken(given: string, secret: string): boolean {
  return isSameText(given, formToken(secret));
}
