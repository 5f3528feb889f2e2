import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Html } from "./markup.ts";

/** Nothing inline runs, nothing comes from elsewhere, no page frames this one, forms stay here. */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/** Headers of every reply of the console but its files. */
export function secured(c: Context): Context {
  c.header("Content-Security-Policy", CONSOLE_POLICY);
  c.header("Cross-Origin-Opener-Policy", "same-origin");
  c.header("Cross-Origin-Resource-Policy", "same-origin");
  // Without the page's address in `Origin`, the console could not recognise its own forms.
  c.header("Referrer-Policy", "same-origin");
  c.header("X-Frame-Options", "DENY");
  c.header("Cache-Control", "no-store");
  return c;
}

/** Sends a page. */
export async function sendPage(
  c: Context,
  page: Html,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  return secured(c).html(await page, status);
}

/** After a form: the browser asks for the next page. */
export function goTo(c: Context, path: string): Response {
  return secured(c).redirect(path, 303);
}
