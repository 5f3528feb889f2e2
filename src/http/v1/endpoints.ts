import { listProjectsEndpoint } from "./ecosystem.ts";
import type { Endpoint, EndpointDeps } from "./endpoint.ts";
import { listEventsEndpoint, readEventEndpoint } from "./events.ts";
import { readLeaderboardEndpoint } from "./leaderboard.ts";
import { topCollectionsEndpoint, topTokensEndpoint } from "./markets.ts";

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
