import { ACTOR_TYPES, parseActorName } from "../../../hosting/actor-name.ts";
import { type FoundActor, findActors, readNamed } from "../../../hosting/list-actors.ts";
import { findEvents } from "../../../reads/console-event.ts";
import { ago } from "../amounts.ts";
import { actorLink, PER_PAGE, pageOf, starOf, textOf } from "../links.ts";
import { badge, type Column, type Html, html, section, table } from "../markup.ts";
import type { Page, PageRequest, PagesDeps } from "../page.ts";
import { goTo } from "../reply.ts";
import { kindWords } from "../words.ts";

/** The actors of every process, live or at rest: an actor exists when it is named. */
export function actorsPage(deps: PagesDeps): Page {
  return {
    path: "/actors",
    nav: ["Watch", "Actors"],
    async show(request) {
      const q = textOf(request.query, "q");
      if (parseActorName(q) !== undefined) return goTo(request.context, `/ops/actors/${q}`);
      const search = readSearch(q, request);
      const { type } = search;
      const kinds = `${kindWords(type)}s`;
      const body = html`<form class="row" method="get" action="/ops/actors" role="search">
<div class="grow"><label for="q">Wallet, event, day, or a whole name</label>
<input id="q" name="q" type="search" value="${q}" placeholder="0.0.1001 · 2026-11-20 · event-day/meetup/2026-11-20"></div>
<button>Search</button>
</form>
<nav class="tabs" aria-label="Kinds of actors">${ACTOR_TYPES.map(
        (other) =>
          html`<a href="${pathOf({ type: other, q })}"${other === type ? html` aria-current="page"` : ""}>${kindWords(other)}s</a>`,
      )}</nav>
${section(`${kinds}${q === "" ? ", newest star first" : ` for “${q}”`}`, await list(deps, search))}
<p class="hint">Every actor that a star has reached is here, whichever process decided it. ${
        type === "wallet-day"
          ? "Live: its state is kept ready in Redis for every process. Stored: it is read from the journal when it is needed."
          : ""
      } An actor that no star has reached can be looked at by its whole name.</p>`;
      return { title: "Actors", body };
    },
  };
}

type Search = ReturnType<typeof readSearch>;

function readSearch(q: string, { query, now }: PageRequest) {
  const named = readNamed(q);
  const asked = ACTOR_TYPES.find((type) => type === query.get("type"));
  const type = asked ?? named.type ?? (named.event === "" ? "wallet-day" : "event-day");
  return { type, q, after: starOf(query, "after"), now };
}

/** This very search, or what comes after a page of it. */
function pathOf({ type, q }: Pick<Search, "type" | "q">, further = {}): string {
  return `/ops/actors?${new URLSearchParams({ type, q, ...further })}`;
}

async function list(deps: PagesDeps, search: Search): Promise<Html> {
  const { type, q, after, now } = search;
  const found = await findActors(deps.sql, {
    type,
    q,
    limit: PER_PAGE + 1,
    after: after === undefined ? undefined : { type, lastStar: after.id },
  });
  const placeAfter = ({ lastStar }: FoundActor): string => pathOf(search, { after: lastStar });
  const { shown, more } = pageOf(found, placeAfter, "More");
  const lastStar: Column<FoundActor> = ["Last star", "plain", ({ lastAt }) => ago(lastAt, now)];
  const actors = table({
    caption: "Actors",
    rows: shown,
    columns: [
      ["Actor", "whole", ({ id }) => actorLink(id)],
      ...(await (type === "wallet-day" ? walletDays : events)(deps, shown, lastStar)),
    ],
    empty: q === "" ? "No star has reached one yet." : "None that fits has had a star.",
  });
  return html`${actors}${more}`;
}

async function walletDays(
  { resting }: PagesDeps,
  actors: readonly FoundActor[],
  lastStar: Column<FoundActor>,
): Promise<readonly Column<FoundActor>[]> {
  const snapshots = await Promise.all(
    actors.map(({ id, version: used, lastAt }) => {
      const name = parseActorName(id);
      if (name?.type !== "wallet-day" || used === null) return null;
      return resting.snapshots?.read(name, { used, lastAt });
    }),
  );
  return [
    ["Stars", "number", ({ version }) => version],
    lastStar,
    [
      "Live or stored",
      "plain",
      (_, index) => (snapshots[index] ? badge("good", "live") : badge("plain", "stored")),
    ],
  ];
}

async function events(
  { sql }: PagesDeps,
  actors: readonly FoundActor[],
  lastStar: Column<FoundActor>,
): Promise<readonly Column<FoundActor>[]> {
  const eventOf = ({ id }: FoundActor): string => id.split("/")[1] ?? "";
  const known = await findEvents(sql, actors.map(eventOf));
  return [
    ["Event", "text", (actor) => known.get(eventOf(actor))?.title ?? null],
    lastStar,
    ["Stars, all days", "number", (actor) => known.get(eventOf(actor))?.stars ?? null],
    ["Weight, all days", "number", (actor) => known.get(eventOf(actor))?.weight ?? null],
  ];
}
