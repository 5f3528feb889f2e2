import createClient, { type Client } from "openapi-fetch";
import type { paths } from "./openapi.ts";

/** A client whose paths, parameters and replies are typed by the OpenAPI document. */
export type StarboardClient = Client<paths>;

/**
 * Makes a client of the public API.
 *
 *     const starboard = starboardClient({ url: "https://…/v1", key: "starboard_live_…" });
 *     const { data, error } = await starboard.GET("/tokens/top", { params: { query: { limit: 10 } } });
 *
 * Every call resolves: with `data`, or with `error` as the API's body (`{ error, code, … }`).
 *
 * @param given.url the base URL, version segment included
 * @param given.key sent as `Authorization: Bearer`, so that it stays out of URLs and logs
 */
export function starboardClient(given: {
  readonly url: string;
  readonly key: string;
}): StarboardClient {
  return createClient<paths>({
    baseUrl: given.url,
    headers: { Authorization: `Bearer ${given.key}` },
  });
}
