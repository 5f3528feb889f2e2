import { type EventRow, eventStatus } from "../../reads/events.ts";
import type { EventStatus, EventType } from "../../store/enumerations.ts";
import { badge, html, type Mood } from "../console/markup.ts";
import type { Item } from "./items.ts";
import { name, time } from "./text.ts";

export const EVENT_TYPE_WORDS: Readonly<Record<EventType, string>> = {
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
