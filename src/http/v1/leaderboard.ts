import { z } from "zod";
import { withInstants } from "../../../actors/day.ts";
import { readLeaderboard } from "../../reads/leaderboard.ts";
import { type Endpoint, type EndpointDeps, endpoint } from "./endpoint.ts";
import { ranked } from "./page.ts";
import { limit } from "./parameters.ts";
import { entrySchema, seasonSchema } from "./schemas.ts";

export function readLeaderboardEndpoint({ sql }: EndpointDeps): Endpoint {
  return endpoint({
    path: "/leaderboard",
    name: "readLeaderboard",
    description: "The current season's leaderboard and the season's dates.",
    shows: ["season"],
    query: z.strictObject({ limit: limit(50) }),
    response: z
      .strictObject({
        season: seasonSchema.nullable().describe("Null, and no entries, while no season is on."),
        leaderboard: z.array(entrySchema),
      })
      .meta({ id: "Leaderboard" }),
    async answer({ limit }, now) {
      const { season, scores, until } = await readLeaderboard(sql, { limit, now });
      return {
        body: { season: season && withInstants(season), leaderboard: ranked(scores) },
        until,
      };
    },
  });
}
