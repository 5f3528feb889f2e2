import type { Sql } from "../../store/postgres.ts";
import { listProjectsEndpoint } from "./ecosystem.ts";
import type { Endpoint } from "./endpoint.ts";
import { listEventsEndpoint, readEventEndpoint } from "./events.ts";
import { readLeaderboardEndpoint } from "./leaderboard.ts";
import { topCollectionsEndpoint, topTokensEndpoint } from "./markets.ts";

/** What the data endpoints read from. */
export interface EndpointDeps {
  readonly sql: Sql;
  /** The two external event sources (`EVENT_SOURCES`). */
  readonly eventSources: readonly string[];
}

/** The data endpoints: the specification's table, row by row. */
export function dataEndpoints(deps: EndpointDeps): readonly Endpoint[] {
  return [
    listEventsEndpoint(deps),
    readEventEndpoint(deps),
    topTokensEndpoint(deps),
    topCollectionsEndpoint(deps),
    readLeaderboardEndpoint(deps),
    listProjectsEndpoint(deps),
  ];
}
