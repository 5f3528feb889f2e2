import { z } from "zod";
import { topCollections, topTokens } from "../../reads/markets.ts";
import { type Endpoint, endpoint } from "./endpoint.ts";
import type { EndpointDeps } from "./endpoints.ts";
import { limit, none } from "./parameters.ts";
import { collectionSchema, tokenSchema } from "./schemas.ts";

export function topTokensEndpoint({ sql, clock }: EndpointDeps): Endpoint {
  return endpoint({
    path: "/tokens/top",
    name: "topTokens",
    description: "Approved tokens ordered by `totalVotes`, with price and market cap.",
    key: true,
    parameters: none,
    query: z.strictObject({ limit: limit(30) }),
    response: z.strictObject({ tokens: z.array(tokenSchema) }).meta({ id: "TopTokens" }),
    async answer({ limit }) {
      return { tokens: ranked(await topTokens(sql, { limit, now: clock.now() })) };
    },
  });
}

export function topCollectionsEndpoint({ sql, clock }: EndpointDeps): Endpoint {
  return endpoint({
    path: "/collections/top",
    name: "topCollections",
    description: "Approved NFT collections ordered by `totalVotes`, with owners and supply.",
    key: true,
    parameters: none,
    query: z.strictObject({ limit: limit(30) }),
    response: z
      .strictObject({ collections: z.array(collectionSchema) })
      .meta({ id: "TopCollections" }),
    async answer({ limit }) {
      return { collections: ranked(await topCollections(sql, { limit, now: clock.now() })) };
    },
  });
}

/** The order is total, so a rank is a position and nothing shares one. */
function ranked<T extends object>(rows: readonly T[]): ({ rank: number } & T)[] {
  return rows.map((row, index) => ({ rank: index + 1, ...row }));
}
