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
import type { Item } from "./items.ts";
import { type Filter, itemPage, listPage } from "./lists.ts";
import type { Page, Reading } from "./page.ts";
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
export function eventsPage(reading: Reading): Page {
  const { sql, eventSources } = reading;
  const sources = {
    parameter: "source",
    label: "Source",
    choices: { unset: "Every source", words: eventSources.map((each) => [each, each] as const) },
  };
  const filters: readonly Filter[] = [
    {
      parameter: "status",
      label: "Status",
      choices: {
        unset: "Live and upcoming",
        words: statuses.map((each) => [each, STATUS_WORDS[each]]),
      },
    },
    {
      parameter: "eventType",
      label: "Kind",
      choices: {
        unset: "Every kind",
        words: eventTypes.map((each) => [each, EVENT_TYPE_WORDS[each]]),
      },
    },
    ...(eventSources.length === 0 ? [] : [sources]),
  ];
  return listPage(reading, {
    path: "/events",
    nav: "Events",
    title: "Events",
    heading: html`<h1>Events</h1>`,
    label: "Which events",
    shape: z.strictObject({
      status: choice(statuses),
      eventType: choice(eventTypes),
      source: choice(eventSources),
      limit: limit(24),
      offset: offset(),
    }),
    filters: () => filters,
    async read(asked, at) {
      const { events, total } = await listEvents(sql, { ...asked, now: at });
      return { items: events.map((row) => eventItem(row, at)), total };
    },
    nothing: () => "No event fits.",
  });
}

/** `/events/{id}`: description, links, prizes, total, the star. */
export function eventPage(reading: Reading): Page {
  return itemPage(reading, {
    path: "/events",
    name: "event",
    isId: (id) => RECORD_ID.test(id),
    read: (id) => readEvent(reading.sql, id),
    item: eventItem,
    details,
  });
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
