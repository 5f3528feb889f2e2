import type { Context } from "hono";
import { matchedRoutes } from "hono/route";

/**
 * The pattern of the route that a request is for, once it is answered: metrics and traces have a
 * series for each, so a client's own words are never in it. Each layer that looked at the request
 * matches too, and what would have answered had no other part; the most particular is the route.
 *
 * @returns `none` where nothing is found
 */
export function routePattern(c: Context): string {
  if (c.res.status === 404) return "none";
  let route = { path: "", weight: -1 };
  for (const { path } of matchedRoutes(c)) {
    const weight = path.endsWith("/*") ? path.length - 2 : path.length + 0.5;
    if (weight >= route.weight) route = { path, weight };
  }
  return route.path;
}
