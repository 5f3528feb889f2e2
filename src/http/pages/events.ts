import { z } from "zod";
import { listEvents } from "../../reads/events.ts";
import { eventStatuses, eventTypes } from "../../store/enumerations.ts";
import { html } from "../console/markup.ts";
import { choice, limit, offset } from "../v1/parameters.ts";
import { EVENT_TYPE_WORDS, eventItem } from "./event-item.ts";
import { filterForm, NOTHING_FURTHER, pager } from "./filters.ts";
import { itemList } from "./items.ts";
import type { Page } from "./page.ts";
import { type Reading, readFilters } from "./reading.ts";

const STATUS_WORDS = { upcoming: "Upcoming", live: "Live", ended: "Ended", all: "All" } as const;
const statuses = [...eventStatuses, "all"] as const;

/** `/events`: with the filters of the public API. */
export function eventsPage({ sql, eventSources, share }: Reading): Page {
  const shape = z.strictObject({
    status: choice(statuses),
    eventType: choice(eventTypes),
    source: choice(eventSources),
    limit: limit(24),
    offset: offset(),
  });
  return {
    path: "/events",
    nav: "Events",
    async show({ query, visitor }) {
      const given = readFilters(shape, query);
      const { events, total, at } = await share(`events ${JSON.stringify(given)}`, async (at) => ({
        ...(await listEvents(sql, { ...given, now: at })),
        at,
      }));
      const items = events.map((row) => eventItem(row, at));
      const form = filterForm("/events", "Which events", [
        {
          parameter: "status",
          label: "Status",
          unset: "Live and upcoming",
          options: statuses.map((each) => [each, STATUS_WORDS[each]]),
          chosen: given.status,
        },
        {
          parameter: "eventType",
          label: "Kind",
          unset: "Every kind",
          options: eventTypes.map((each) => [each, EVENT_TYPE_WORDS[each]]),
          chosen: given.eventType,
        },
        ...(eventSources.length === 0
          ? []
          : [
              {
                parameter: "source",
                label: "Source",
                unset: "Every source",
                options: eventSources.map((each) => [each, each] as const),
                chosen: given.source,
              },
            ]),
      ]);
      const empty = given.offset > 0 ? NOTHING_FURTHER : "No event fits.";
      const { status, eventType, source } = given;
      const asked = { status, eventType, source, limit: query.get("limit") };
      return {
        title: "Events",
        body: html`<h1>Events</h1>
${form}
${itemList(items, visitor, { empty })}
${pager("/events", asked, { ...given, total })}`,
      };
    },
  };
}
