import { DAY_MS, type Day, dayOf, isDay, startOfDay } from "../../../actors/day.ts";
import { TerminalError } from "../../errors.ts";
import { entityNumber } from "../../ledger/entity-id.ts";
import { itemNames } from "../../reads/directory-items.ts";
import { type Publication, receiptsOfDay, type StarReceipt } from "../../reads/receipts.ts";
import { type Content, html, table } from "../console/markup.ts";
import { itemLink, nameIn } from "./items.ts";
import type { Page } from "./page.ts";
import type { Reading } from "./reading.ts";
import { dayText, time } from "./text.ts";

/** Where a star's message is, in a few words. */
const PUBLICATION_WORDS: Readonly<Record<Publication["state"], string>> = {
  stored: "stored",
  submitted: "sent",
  published: "on the ledger",
};

/** `/stars`: the visitor's stars, day by day. */
export function starsPage({ sql }: Reading): Page {
  return {
    path: "/stars",
    nav: "My stars",
    async show({ query, now, visitor }) {
      const today = dayOf(now);
      const day = query.get("day") || today;
      if (!isDay(day)) {
        throw new TerminalError("INVALID_PARAMETER", "The day must be a date such as 2026-11-20.");
      }
      if (visitor === null) {
        return {
          title: "My stars",
          body: html`<h1>My stars</h1><p class="empty">Sign in to see the stars of your wallet.</p>`,
        };
      }
      const stars = await receiptsOfDay(sql, entityNumber(visitor.wallet), day);
      const names = await itemNames(
        sql,
        stars.map(({ target }) => target),
      );
      return {
        title: "My stars",
        body: html`<h1>My stars</h1>
<div class="stack" data-stars>${dayLinks(day, today)}
<section class="card">${table({
          caption: `Stars of ${day}`,
          rows: stars,
          columns: [
            ["Item", "text title", ({ target }) => itemLink(target, nameIn(names, target))],
            ["Given", "whole", ({ at }) => time(at)],
            ["Weight", "number", ({ weight }) => weight],
            ["Receipt", "whole", receiptLink],
          ],
          empty: "No star was given on this day.",
        })}</section></div>`,
      };
    },
  };
}

function receiptLink({ id, publication }: StarReceipt): Content {
  return html`<a href="/stars/${id}">${PUBLICATION_WORDS[publication.state]}<span class="unseen">: receipt</span></a>`;
}

function dayLinks(day: Day, today: Day): Content {
  const at = startOfDay(day);
  const link = (to: number, word: string, rel: string): Content =>
    html`<a class="button" rel="${rel}" href="/stars?day=${dayOf(to)}">${word}</a>`;
  return html`<nav class="pager" aria-label="Days">${isDay(dayOf(at - DAY_MS)) ? link(at - DAY_MS, "← Day before", "prev") : ""}<span>${day === today ? "Today, " : ""}${dayText(at)} by UTC</span>${day >= today ? "" : link(at + DAY_MS, "Day after →", "next")}</nav>`;
}
