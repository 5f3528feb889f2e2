import { clientAddress } from "../http/middleware/client-address.ts";
import { type LiveRoutes, liveRoutes } from "../http/voting/live.ts";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { counterChanges } from "../reads/counter-changes.ts";
import { followJournal } from "../store/journal-horizon.ts";
import type { Sql } from "../store/postgres.ts";
import { createLiveCounters } from "../voting/live-counters.ts";

/** What the live counters stand on. */
export interface LiveParts {
  /** A pool that no vote waits for. */
  readonly reader: Sql;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly trustedProxies: readonly string[];
}

/** Puts `GET /voting/live` together. */
export function composeLive({ reader, log, metrics, trustedProxies }: LiveParts): LiveRoutes {
  return liveRoutes({
    counters: createLiveCounters({
      lookAtJournal: followJournal(reader),
      loadChanges: (after, upTo) => counterChanges(reader, after, upTo),
      log,
    }),
    client: clientAddress(trustedProxies),
    metrics,
  });
}
