import { RECORD_ID } from "../../hosting/actor-name.ts";
import { type EventDetail, readEvent } from "../../reads/events.ts";
import { type Content, type Fact, facts, html, section } from "../console/markup.ts";
import { eventItem } from "./event-item.ts";
import { itemHead } from "./items.ts";
import type { Page } from "./page.ts";
import { found, type Reading } from "./reading.ts";
import { name, outwards, paragraphs } from "./text.ts";

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
