import { z } from "zod";
import { instant } from "../../../actors/day.ts";
import { TerminalError } from "../../errors.ts";
import { RECORD_ID } from "../../hosting/actor-name.ts";
import {
  type EventRow,
  eventStatus,
  listEvents,
  readEvent,
  statusEnds,
} from "../../reads/events.ts";
import { eventStatuses, eventTypes } from "../../store/enumerations.ts";
import { type Endpoint, type EndpointDeps, endpoint } from "./endpoint.ts";
import { pageOf } from "./page.ts";
import { choice, limit, offset } from "./parameters.ts";
import { eventDetailSchema, eventSchema, page } from "./schemas.ts";

export function listEventsEndpoint({ sql, eventSources }: EndpointDeps): Endpoint {
  return endpoint({
    path: "/events",
    name: "listEvents",
    description: "Approved events, soonest first. Without `status`, ended events are left out.",
    shows: ["event"],
    query: z.strictObject({
      status: choice([...eventStatuses, "all"]),
      eventType: choice(eventTypes),
      source: choice(eventSources),
      limit: limit(20),
      offset: offset(),
    }),
    response: z.strictObject({ events: z.array(eventSchema), ...page }).meta({ id: "EventPage" }),
    async answer(given, now) {
      const { events, total, until } = await listEvents(sql, { ...given, now });
      const shown = events.map((row) => asEvent(row, now));
      return { body: { events: shown, ...pageOf(given, events, total) }, until };
    },
  });
}

export function readEventEndpoint({ sql }: EndpointDeps): Endpoint {
  return endpoint({
    path: "/events/{id}",
    name: "readEvent",
    description: "One approved event with its links and prizes.",
    shows: ["event"],
    parameters: z.strictObject({
      id: z.string().regex(RECORD_ID).describe("Id of the event."),
    }),
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
  return {
    id: row.id,
    title: row.title,
    description: row.description,
    eventType: row.eventType,
    isForeverMint: row.isForeverMint,
    status: eventStatus(row, now),
    source: row.source,
    startsAt: instant(row.startsAt),
    endsAt: row.endsAt === null ? null : instant(row.endsAt),
    host: row.host,
    location: row.location,
    imageUrl: row.imageUrl,
    url: row.url,
    totalVotes: row.totalVotes,
    createdAt: instant(row.createdAt),
  };
}
