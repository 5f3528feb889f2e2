import { z } from "zod";
import { type TopQuery, topRanked } from "../../reads/markets.ts";
import { type Endpoint, type EndpointDeps, endpoint } from "./endpoint.ts";
import { nextHour, ranked } from "./page.ts";
import { LIMIT_MAX, limit } from "./parameters.ts";
import { collectionSchema, tokenSchema } from "./schemas.ts";
import { shareReads } from "./shared-reads.ts";

const LIMIT = 30;

export function topTokensEndpoint({ sql }: EndpointDeps): Endpoint {
  const readTop = topReader((query) => topRanked(sql, "token", query));
  return endpoint({
    path: "/tokens/top",
    name: "topTokens",
    description: "Approved tokens ordered by `totalVotes`, with price and market cap.",
    shows: ["token"],
    query: z.strictObject({ limit: limit(LIMIT) }),
    response: z.strictObject({ tokens: z.array(tokenSchema) }).meta({ id: "TopTokens" }),
    async answer({ limit }, now) {
      return { body: { tokens: await readTop(limit, now) }, until: nextHour(now) };
    },
  });
}

export function topCollectionsEndpoint({ sql }: EndpointDeps): Endpoint {
  const readTop = topReader((query) => topRanked(sql, "collection", query));
  return endpoint({
    path: "/collections/top",
    name: "topCollections",
    description: "Approved NFT collections ordered by `totalVotes`, with owners and supply.",
    shows: ["collection"],
    query: z.strictObject({ limit: limit(LIMIT) }),
    response: z
      .strictObject({ collections: z.array(collectionSchema) })
      .meta({ id: "TopCollections" }),
    async answer({ limit }, now) {
      return { body: { collections: await readTop(limit, now) }, until: nextHour(now) };
    },
  });
}

/**
 * Reads the first of a ranking. Counting all of it may take a quarter of a second, so those who ask
 * at the same time share one read of the usual length, or of the greatest, and each takes as many
 * as its own limit says.
 */
function topReader<R extends object>(read: (query: TopQuery) => Promise<readonly R[]>) {
  const share = shareReads<readonly R[]>();
  return async (limit: number, now: number) => {
    const length = limit <= LIMIT ? LIMIT : LIMIT_MAX;
    // Within an hour the clock changes nothing.
    const question = `${length} until ${nextHour(now)}`;
    const rows = await share(question, () => read({ limit: length, now }));
    return ranked(rows.slice(0, limit));
  };
}
