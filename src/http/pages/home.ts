import { dayOf } from "../../../actors/day.ts";
import { rulesOn } from "../../../actors/rules.ts";
import { topProjects } from "../../reads/directory-items.ts";
import { listEvents } from "../../reads/events.ts";
import { topRanked } from "../../reads/markets.ts";
import { type Html, html } from "../console/markup.ts";
import { eventItem } from "./events.ts";
import { type Item, itemList } from "./items.ts";
import { collectionItem, tokenItem } from "./markets.ts";
import type { Page, PageRequest, Reading } from "./page.ts";
import { projectItem } from "./projects.ts";

const EVENTS = 6;
const TOP = 5;

/** `/`: what is on now. */
export function homePage({ sql, share, siteName }: Reading): Page {
  return {
    path: "/",
    async show(request) {
      const [{ events }, tokens, collections, projects, now] = await share("home", (at) =>
        Promise.all([
          listEvents(sql, { limit: EVENTS, offset: 0, now: at }),
          topRanked(sql, "token", { limit: TOP, now: at }),
          topRanked(sql, "collection", { limit: TOP, now: at }),
          topProjects(sql, { limit: TOP, now: at }),
          at,
        ]),
      );
      const part = partsFor(request);
      const { base, flatBonus } = rulesOn(dayOf(now));
      return {
        title: "",
        body: html`<h1>What is on now</h1>
<p class="lead">${siteName} lists what happens on the ledger, and wallets give it stars. A star weighs ${base}, and 1 more for each NFT of collection A, and ${flatBonus} more with one of collection B. Every star is on the ledger, where anyone can check it.</p>
${part(
  "Events",
  "/events",
  events.map((row) => eventItem(row, now)),
)}
<div class="columns">
${part("Tokens today", "/tokens", tokens.map(tokenItem))}
${part("NFT collections today", "/collections", collections.map(collectionItem))}
${part("Projects today", "/projects", projects.map(projectItem))}
</div>`,
      };
    },
  };
}

function partsFor({ visitor }: PageRequest) {
  return (title: string, path: string, items: readonly Item[]): Html =>
    html`<section class="part"><header><h2>${title}</h2><a href="${path}">All<span class="unseen"> of: ${title}</span></a></header>
${itemList(items, visitor, { empty: "Nothing is listed yet.", level: 3 })}</section>`;
}
