import { z } from "zod";
import { topCollections, topTokens } from "../../reads/markets.ts";
import { type Endpoint, type EndpointDeps, endpoint } from "./endpoint.ts";
import { nextHour, ranked } from "./page.ts";
import { limit } from "./parameters.ts";
import { collectionSchema, tokenSchema } from "./schemas.ts";

export function topTokensEndpoint({ sql }: EndpointDeps): Endpoint {
  return endpoint({
    path: "/tokens/top",
    name: "topTokens",
    description: "Approved tokens ordered by `totalVotes`, with price and market cap.",
    shows: ["token"],
    query: z.strictObject({ limit: limit(30) }),
    response: z.strictObject({ tokens: z.array(tokenSchema) }).meta({ id: "TopTokens" }),
    async answer({ limit }, now) {
      const tokens = ranked(await topTokens(sql, { limit, now }));
      return { body: { tokens }, until: nextHour(now) };
    },
  });
}

export function topCollectionsEndpoint({ sql }: EndpointDeps): Endpoint {
  return endpoint({
    path: "/collections/top",
    name: "topCollections",
    description: "Approved NFT collections ordered by `totalVotes`, with owners and supply.",
    shows: ["collection"],
    query: z.strictObject({ limit: limit(30) }),
    response: z
      .strictObject({ collections: z.array(collectionSchema) })
      .meta({ id: "TopCollections" }),
    async answer({ limit }, now) {
      const collections = ranked(await topCollections(sql, { limit, now }));
      return { body: { collections }, until: nextHour(now) };
    },
  });
}
