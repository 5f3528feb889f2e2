import { z } from "zod";
import { withInstants } from "../../../actors/day.ts";
import { TerminalError } from "../../errors.ts";
import { RECORD_ID } from "../../hosting/actor-name.ts";
import { listProjects, type ProjectRow } from "../../reads/ecosystem.ts";
import {
  type EventRow,
  eventStatus,
  listEvents,
  readEvent,
  statusEnds,
} from "../../reads/events.ts";
import { readLeaderboard } from "../../reads/leaderboard.ts";
import { type TopQuery, topRanked } from "../../reads/markets.ts";
import { categories, eventStatuses, eventTypes } from "../../store/enumerations.ts";
import { record } from "../openapi.ts";
import { type Endpoint, type EndpointDeps, endpoint } from "./endpoint.ts";
import { nextHour, pageOf, ranked } from "./page.ts";
import { choice, country, LIMIT_MAX, limit, offset } from "./parameters.ts";
import { shareReads } from "./response-cache.ts";
import {
  collectionSchema,
  entrySchema,
  eventDetailSchema,
  eventSchema,
  page,
  projectSchema,
  seasonSchema,
  tokenSchema,
} from "./schemas.ts";

/** The data endpoints: the specification's table, row by row. */
export function dataEndpoints(deps: EndpointDeps): readonly Endpoint[] {
  return [
    eventsEndpoint(deps),
    eventEndpoint(deps),
    topTokensEndpoint(deps),
    topCollectionsEndpoint(deps),
    leaderboardEndpoint(deps),
    projectsEndpoint(deps),
  ];
}

function eventsEndpoint({ sql, eventSources }: EndpointDeps): Endpoint {
  return endpoint({
    path: "/events",
    name: "listEvents",
    description:
      "Approved events, soonest first, then by id. Without `status`, ended events are left out.",
    shows: ["event"],
    query: z.strictObject({
      status: choice([...eventStatuses, "all"]),
      eventType: choice(eventTypes),
      source: choice(eventSources),
      limit: limit(20),
      offset: offset(),
    }),
    response: record("EventPage", { events: z.array(eventSchema), ...page }),
    async answer(given, now) {
      const { events, total, until } = await listEvents(sql, { now, ...given });
      const shown = events.map((row) => asEvent(row, now));
      return { body: { events: shown, ...pageOf(given, events, total) }, until };
    },
  });
}

function eventEndpoint({ sql }: EndpointDeps): Endpoint {
  return endpoint({
    path: "/events/{id}",
    name: "readEvent",
    description: "One approved event with its links and prizes.",
    shows: ["event"],
    parameters: z.strictObject({ id: z.string().regex(RECORD_ID).describe("Id of the event.") }),
    response: eventDetailSchema,
    async answer({ id }, now) {
      const row = await readEvent(sql, id);
      if (row === undefined) {
        throw new TerminalError("NOT_FOUND", "No approved event has this id.");
      }
      const body = {
        ...asEvent(row, now),
        // The database keeps no order of names within these.
        links: row.links.map(({ label, url }) => ({ label, url })),
        prizes: row.prizes.map(({ title, description, value }) => ({ title, description, value })),
      };
      return { body, until: statusEnds(row, now) };
    },
  });
}

/** An event as clients see it. */
export function asEvent(row: EventRow, now: number): z.output<typeof eventSchema> {
  const { id, title, description, eventType, isForeverMint, ...rest } = withInstants(row);
  const status = eventStatus(row, now);
  return { id, title, description, eventType, isForeverMint, status, ...rest };
}

/** What a ranking's endpoint gives when it is not told how many. */
const TOP = 30;

function topTokensEndpoint({ sql }: EndpointDeps): Endpoint {
  const readTop = topReader((query) => topRanked(sql, "token", query));
  return endpoint({
    path: "/tokens/top",
    name: "topTokens",
    description: "Approved tokens ordered by `totalVotes`, with price and market cap.",
    shows: ["token"],
    query: z.strictObject({ limit: limit(TOP) }),
    response: record("TopTokens", { tokens: z.array(tokenSchema) }),
    async answer({ limit }, now) {
      return { body: { tokens: await readTop(limit, now) }, until: nextHour(now) };
    },
  });
}

function topCollectionsEndpoint({ sql }: EndpointDeps): Endpoint {
  const readTop = topReader((query) => topRanked(sql, "collection", query));
  return endpoint({
    path: "/collections/top",
    name: "topCollections",
    description: "Approved NFT collections ordered by `totalVotes`, with owners and supply.",
    shows: ["collection"],
    query: z.strictObject({ limit: limit(TOP) }),
    response: record("TopCollections", { collections: z.array(collectionSchema) }),
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
    const length = limit <= TOP ? TOP : LIMIT_MAX;
    // Within an hour the clock changes nothing.
    const question = `${length} until ${nextHour(now)}`;
    const rows = await share(question, () => read({ limit: length, now }));
    return ranked(rows.slice(0, limit));
  };
}

function leaderboardEndpoint({ sql }: EndpointDeps): Endpoint {
  return endpoint({
    path: "/leaderboard",
    name: "readLeaderboard",
    description: "The current season's leaderboard and the season's dates.",
    shows: ["season"],
    query: z.strictObject({ limit: limit(50) }),
    response: record("Leaderboard", {
      season: seasonSchema.nullable().describe("Null, and no entries, while no season is on."),
      leaderboard: z.array(entrySchema),
    }),
    async answer({ limit }, now) {
      const { season, scores, until } = await readLeaderboard(sql, { limit, now });
      const body = { season: season && withInstants(season), leaderboard: ranked(scores) };
      return { body, until };
    },
  });
}

function projectsEndpoint({ sql }: EndpointDeps): Endpoint {
  return endpoint({
    path: "/ecosystem",
    name: "listProjects",
    description: "Approved ecosystem projects, newest first, then by id.",
    shows: ["project"],
    query: z.strictObject({
      category: choice(categories),
      country: country(),
      limit: limit(50),
      offset: offset(),
    }),
    response: record("ProjectPage", { projects: z.array(projectSchema), ...page }),
    async answer(given, now) {
      const { projects, total } = await listProjects(sql, { now, ...given });
      const body = { projects: projects.map(asProject), ...pageOf(given, projects, total) };
      return { body, until: nextHour(now) };
    },
  });
}

/** A project as clients see it. */
export function asProject(row: ProjectRow): z.output<typeof projectSchema> {
  const { createdAt, ...rest } = withInstants(row);
  return { ...rest, createdAt };
}
