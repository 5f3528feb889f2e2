import { dayOfStarId } from "../../../journal/star-id.ts";
import { entityId, entityNumber, isEntityId } from "../../../ledger/entity-id.ts";
import { type ListedStar, listStars } from "../../../reads/list-stars.ts";
import { ago } from "../amounts.ts";
import { actorLink, PER_PAGE, pageOf, starLink, starOf, textOf } from "../links.ts";
import { html, section, table } from "../markup.ts";
import type { Page, PagesDeps } from "../page.ts";
import { goTo } from "../reply.ts";
import { targetName } from "../words.ts";

/** Stars of the journal, newest first; each leads to why it weighs what it weighs. */
export function starsPage({ sql }: PagesDeps): Page {
  return {
    path: "/stars",
    nav: ["Watch", "Stars"],
    async show({ query, now, context }) {
      const q = textOf(query, "q");
      if (dayOfStarId(q.toLowerCase()) !== null)
        return goTo(context, `/ops/stars/${q.toLowerCase()}`);
      const before = starOf(query, "before");
      const isWallet = isEntityId(q);
      const found = await listStars(sql, {
        wallet: isWallet ? entityNumber(q) : undefined,
        event: isWallet || q === "" ? undefined : q,
        before,
        limit: PER_PAGE + 1,
      });
      const after = ({ id }: ListedStar): string =>
        `/ops/stars?${new URLSearchParams({ q, before: id })}`;
      const { shown, more } = pageOf(found, after);
      const stars = table({
        caption: "Stars, newest first",
        rows: shown,
        columns: [
          ["Star", "whole", ({ id }) => starLink(id)],
          ["When", "plain", ({ at }) => ago(at, now)],
          [
            "Wallet",
            "plain",
            ({ wallet, day }) =>
              actorLink(`wallet-day/${entityId(wallet)}/${day}`, entityId(wallet)),
          ],
          ["Item", "plain title", ({ type, targetId }) => targetName(`${type}/${targetId}`)],
          ["Voting power", "number", ({ votingPower }) => votingPower],
          ["Weight", "number", ({ weight }) => weight],
        ],
        empty:
          q === ""
            ? "No star yet. The first one shows here as soon as it is accepted."
            : "No star fits. Search for a whole star id, a wallet such as 0.0.1001, or an event's whole id.",
      });
      return {
        title: "Stars",
        body: html`<form class="row" method="get" action="/ops/stars" role="search">
<div class="grow"><label for="q">Star id, wallet, or event</label><input id="q" name="q" type="search" value="${q}" placeholder="0.0.1001 · meetup · 01a1f8c0-…"></div>
<button>Search</button>
</form>
${section(q === "" ? "Newest stars" : `Stars for “${q}”`, html`${stars}${more}`)}`,
      };
    },
  };
}
