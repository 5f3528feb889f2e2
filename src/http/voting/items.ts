import { z } from "zod";
import type { TargetType } from "../../../actors/content.ts";
import type { FollowedClock } from "../../clock.ts";
import { badField } from "../../errors.ts";
import { listProjects } from "../../reads/ecosystem.ts";
import { listEvents } from "../../reads/events.ts";
import { listRanked } from "../../reads/markets.ts";
import { revisionOf, revisionReader } from "../../store/data-revision.ts";
import { categories, eventStatuses, eventTypes } from "../../store/enumerations.ts";
import type { Sql } from "../../store/postgres.ts";
import { record } from "../openapi.ts";
import { readGate } from "../read-gate.ts";
import { asEvent, asProject } from "../v1/endpoints.ts";
import { nextHour, pageOf } from "../v1/page.ts";
import { choice, country, limit, namePart, offset } from "../v1/parameters.ts";
import type { Representation } from "../v1/representation.ts";
import { responseCache, type Shown } from "../v1/response-cache.ts";
import { collectionSchema, eventSchema, page, projectSchema, tokenSchema } from "../v1/schemas.ts";
import { targetType } from "./bodies.ts";

/** What a list of items is asked by; filters are those of the public API. */
export const itemQuery = z.strictObject({
  type: targetType,
  status: choice([...eventStatuses, "all"]).describe("Of events; ended ones only where asked for."),
  eventType: choice(eventTypes).describe("Of events."),
  category: choice(categories).describe("Of projects."),
  country: country(),
  q: namePart().describe("Part of a name, or of a token's symbol, in any case."),
  limit: limit(20),
  offset: offset(),
});
export type ItemQuery = z.output<typeof itemQuery>;

/** A page of items: each as the public API's list of its type shows it. */
export const itemPage = record("ItemPage", {
  items: z.array(z.union([eventSchema, tokenSchema, collectionSchema, projectSchema])),
  ...page,
});

const FILTERS: Readonly<Record<TargetType, readonly (keyof ItemQuery)[]>> = {
  event: ["status", "eventType"],
  token: [],
  collection: [],
  project: ["category", "country"],
};

/** @throws TerminalError `INVALID_REQUEST` with the first filter that the type does not have */
export function checkFilters(query: ItemQuery): ItemQuery {
  const other = Object.values(FILTERS)
    .flat()
    .find((name) => query[name] !== undefined && !FILTERS[query.type].includes(name));
  if (other === undefined) return query;
  throw badField(other, `${other} is not a parameter of ${query.type} lists`);
}

export async function listItems(
  sql: Sql,
  { type, ...query }: ItemQuery,
  now: number,
): Promise<Shown<z.output<typeof itemPage>>> {
  const asked = { ...query, now };
  const shown = (items: z.output<typeof itemPage>["items"], total: number, until: number) => ({
    body: { items, ...pageOf(query, items, total) },
    until,
  });
  if (type === "event") {
    const { events, total, until } = await listEvents(sql, asked);
    return shown(
      events.map((row) => asEvent(row, now)),
      total,
      until,
    );
  }
  if (type === "project") {
    const { projects, total } = await listProjects(sql, asked);
    return shown(projects.map(asProject), total, nextHour(now));
  }
  const { rows, total } = await listRanked(sql, type, asked);
  return shown([...rows], total, nextHour(now));
}

export type ReadItems = (query: ItemQuery) => Promise<Representation>;

const KEPT_BYTES_MAX = 8 * 1024 * 1024;

/** Pages are kept while what they show stands, as the public API's. */
export function itemReader(given: { readonly sql: Sql; readonly clock: FollowedClock }): ReadItems {
  const { sql, clock } = given;
  const responses = responseCache(clock, KEPT_BYTES_MAX);
  const readRevision = revisionReader(sql, clock);
  const gated = readGate();
  return async (query) => {
    const asked = {
      question: JSON.stringify(query),
      revision: revisionOf(await readRevision(), [query.type]),
      read: (now: number) => gated(() => listItems(sql, query, now)),
    };
    return responses.find(asked) ?? responses.read(asked);
  };
}
