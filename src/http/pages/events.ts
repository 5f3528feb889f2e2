import { z } from "zod";
import { RECORD_ID } from "../../hosting/actor-name.ts";
import {
  type EventDetail,
  type EventRow,
  eventStatus,
  listEvents,
  readEvent,
} from "../../reads/events.ts";
import {
  type EventStatus,
  type EventType,
  eventStatuses,
  eventTypes,
} from "../../store/enumerations.ts";
import {
  badge,
  type Content,
  type Fact,
  facts,
  html,
  type Mood,
  section,
} from "../console/markup.ts";
import { choice, limit, offset } from "../v1/parameters.ts";
import { filterForm, NOTHING_FURTHER, pager } from "./filters.ts";
import { type Item, itemHead, itemList } from "./items.ts";
import type { Page } from "./page.ts";
import { found, type Reading, readFilters } from "./reading.ts";
import { name, outwards, paragraphs, time } from "./text.ts";

const EVENT_TYPE_WORDS: Readonly<Record<EventType, string>> = {
  MINT_EVENT: "Mint",
  ECOSYSTEM_MEETUP: "Meetup",
  HACKATHON: "Hackathon",
  OTHER: "Other event",
};

const STATUSES: Readonly<Record<EventStatus, readonly [Mood, string]>> = {
  live: ["good", "Live"],
  upcoming: ["plain", "Upcoming"],
  ended: ["plain", "Ended"],
};

/** An event in a list, and at the head of its page. */
export function eventItem(event: EventRow, now: number): Item {
  const { id, title, totalVotes, isForeverMint, eventType, startsAt, endsAt } = event;
  const [mood, word] = STATUSES[eventStatus(event, now)];
  const where = [event.host, event.location].filter((each) => each !== null);
  return {
    type: "event",
    id,
    name: title,
    totalVotes,
    scope: isForeverMint ? "forever-mint" : "event-day",
    kind: html`${badge(mood, word)} ${isForeverMint ? "Forever mint" : EVENT_TYPE_WORDS[eventType]} · ${time(startsAt)}${endsAt === null ? " and on" : html` to ${time(endsAt)}`}${where.map((each) => html` · ${name(each)}`)}`,
  };
}

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

/** `/events/{id}`: description, links, prizes, total, the star. */
export function eventPage({ sql, share }: Reading): Page {
  return {
    path: "/events/:id",
    async show({ id, now, visitor }) {
      const row = RECORD_ID.test(id)
        ? await share(`event ${id}`, () => readEvent(sql, id))
        : undefined;
      const event = found(row, "event");
      return {
        title: event.title,
        body: html`${itemHead(eventItem(event, now), visitor)}
${details(event)}`,
      };
    },
  };
}

function details(event: EventDetail): Content {
  const { description, links, prizes, url, source, isForeverMint } = event;
  const rows: readonly Fact[] = [
    [
      "Counts",
      isForeverMint
        ? "once a wallet, and each NFT once while it is held"
        : "once a wallet and day, and each NFT once a day",
    ],
    ["Source", source],
    ["Page", url === null ? null : outwards(url, url)],
    ...links.map((link): Fact => ["Link", outwards(link.url, link.label)]),
  ];
  return html`${description === null ? "" : section("About", paragraphs(description))}
${section("Details", facts(rows))}
${prizes.length === 0 ? "" : section("Prizes", prizeList(prizes))}`;
}

function prizeList(prizes: EventDetail["prizes"]): Content {
  return html`<ul class="prizes">${prizes.map(
    (prize) =>
      html`<li><strong>${name(prize.title)}</strong>${prize.value === null ? "" : html` · ${name(prize.value)}`}${prize.description === null ? "" : html`<br>${name(prize.description)}`}</li>`,
  )}</ul>`;
}
