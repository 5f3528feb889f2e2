import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { pagePolicy, securePage } from "../page-headers.ts";
import type { Html } from "./markup.ts";

/** Pictures of the style sheet are `data:`. */
export const CONSOLE_POLICY = pagePolicy({ "img-src": "'self' data:" });

/** Headers of every reply of the console but its files. */
export function secured(c: Context): Context {
  securePage(c, CONSOLE_POLICY);
  c.header("Cache-Control", "no-store");
  return c;
}

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
