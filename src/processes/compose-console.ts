import type { Hono } from "hono";
import { consoleRoutes } from "../http/console/app.ts";
import { consolePages } from "../http/console/pages.ts";
import type { ClientAddress } from "../http/middleware/client-address.ts";
import type { HttpParts } from "./compose-http.ts";

/** The operators' console with its pages, to be mounted at `/ops`. */
export function composeConsole(parts: HttpParts, client: ClientAddress): Hono {
  const { settings, publicUrl, reader: sql, redis, clock, log } = parts;
  const frame = {
    operatorToken: settings.OPERATOR_TOKEN,
    network: settings.HEDERA_NETWORK,
    publicUrl,
    sql,
    redis,
    clock,
    log,
    client,
  };
  const pages = consolePages({
    ...parts.operating,
    sql,
    snapshots: parts.snapshots,
    mintSnapshots: parts.mintSnapshots,
    refusals: parts.refusals,
    network: settings.HEDERA_NETWORK,
    now: clock.now,
    isDraining: parts.isDraining,
  });
  return consoleRoutes(frame, pages);
}
