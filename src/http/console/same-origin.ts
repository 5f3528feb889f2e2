import type { Context } from "hono";

/**
 * Whether a form was sent by a page of the console. Browsers say so themselves: `Sec-Fetch-Site` on
 * https and on localhost, `Origin` everywhere else. A request with neither is none.
 */
export function isSameOrigin(c: Context, publicUrl: string): boolean {
  const site = c.req.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  const origin = c.req.header("origin");
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { host } = new URL(origin);
  return host === new URL(publicUrl).host || host === c.req.header("host");
}
