import type { Context } from "hono";

/** What stands behind the beginning of a request's path, decoded; empty where it cannot be decoded. */
export function restOfPath(c: Context, beginning: string): string {
  try {
    return decodeURIComponent(c.req.path.slice(beginning.length));
  } catch {
    return "";
  }
}
