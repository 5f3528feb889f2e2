import type { Context } from "hono";

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
