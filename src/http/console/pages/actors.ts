import { dayOf, isDay } from "../../../../actors/day.ts";
import { ACTOR_TYPES, parseActorName } from "../../../hosting/actor-name.ts";
import { accountNumber, walletOf } from "../../../journal/star-record.ts";
import { isEntityId } from "../../../ledger/entity-id.ts";
import {
  listDaysOfEvent,
  listEvents,
  listWalletDays,
  type WalletDayRow,
} from "../../../reads/console-actors.ts";
import type { Sql } from "../../../store/postgres.ts";
import { UUID } from "../../../uuid.ts";
import { actorLink } from "../links.ts";
import { ago, badge, type Html, html, section, table } from "../markup.ts";
import type { Page, PageRequest, PagesDeps } from "../page.ts";
import { PER_PAGE, pageOf, textOf } from "../paging.ts";
import { goTo } from "../reply.ts";
import { kindWords } from "../words.ts";

/** The actors of every process, live or at rest: an actor exists when it is named. */
export function actorsPage(deps: PagesDeps): Page {
  return {
    path: "/actors",
    nav: "Actors",
    async show(request) {
      const q = textOf(request.query, "q");
      if (parseActorName(q) !== undefined) return goTo(request.context, `/ops/actors/${q}`);
      const search = readSearch(q, request);
      const list = search.type === "wallet-day" ? walletDays : events;
      return { title: "Actors", body: page(search, await list(deps, search)) };
    },
  };
}

type Search = ReturnType<typeof readSearch>;

/** What somebody looks for. */
function readSearch(q: string, { query, now }: PageRequest) {
  const words = q.split(/\s+/).filter(Boolean);
  const wallet = words.find(isEntityId);
  const day = words.find(isDay);
  const text = words.filter((word) => word !== wallet && word !== day).join(" ") || undefined;
  const asked = ACTOR_TYPES.find((type) => type === query.get("type"));
  const type = asked ?? (text === undefined ? "wallet-day" : "event-day");
  const [after, until] = [textOf(query, "after"), textOf(query, "before")];
  // Only days of one event before this one.
  const before = isDay(until) ? until : undefined;
  return { type, q, wallet, day, text, after, before, now };
}

/** This very search, or what comes after a page of it. */
function pathOf({ type, q }: Pick<Search, "type" | "q">, further = {}): string {
  return `/ops/actors?${new URLSearchParams({ type, q, ...further })}`;
}

async function walletDays({ sql, resting }: PagesDeps, search: Search): Promise<Html> {
  const { wallet, day, after, now } = search;
  const [afterDay = "", starId = ""] = after.split(" ");
  const found = await listWalletDays(sql, {
    wallet: wallet === undefined ? undefined : accountNumber(wallet),
    day,
    limit: PER_PAGE + 1,
    after: isDay(afterDay) && UUID.test(starId) ? { day: afterDay, starId } : undefined,
  });
  const placeAfter = ({ day, starId }: WalletDayRow): string =>
    pathOf(search, { after: `${day} ${starId}` });
  const { shown, more } = pageOf(found, placeAfter, "More");
  const atRest = await Promise.all(
    shown.map(({ wallet, day, stars, lastAt }) =>
      resting.snapshots?.read({ wallet: walletOf(wallet), day }, { used: stars, lastAt }),
    ),
  );
  const list = table({
    caption: "Actors",
    rows: shown,
    columns: [
      ["Actor", "whole", ({ wallet, day }) => actorLink(`wallet-day/${walletOf(wallet)}/${day}`)],
      ["Stars", "number", ({ stars }) => stars],
      ["Last star", "plain", ({ lastAt }) => ago(lastAt, now)],
      [
        "Live or stored",
        "plain",
        (_, index) => (atRest[index] ? badge("good", "live") : badge("plain", "stored")),
      ],
    ],
    empty: emptyWords(search),
  });
  return html`${list}${more}`;
}

async function events({ sql }: PagesDeps, search: Search): Promise<Html> {
  const { type, day, text, after, now } = search;
  const isForeverMint = type === "forever-mint";
  const limit = PER_PAGE + 1;
  const found = await listEvents(sql, { isForeverMint, text, day, after, limit });
  const events = pageOf(found, ({ id }) => pathOf(search, { after: id }), "More");
  const days = await daysOfTheOne(sql, search, events.shown);
  const dayPage = days && pageOf(days, ({ day }) => pathOf(search, { after, before: day }), "More");
  const rows = events.shown.flatMap((event) =>
    (dayPage?.shown ?? [{ day: dayOf(event.lastAt), lastAt: event.lastAt }]).map((starred) => ({
      ...event,
      ...starred,
    })),
  );
  const list = table({
    caption: "Actors",
    rows,
    columns: [
      [
        "Actor",
        "whole",
        ({ id, day }) => actorLink(isForeverMint ? `forever-mint/${id}` : `event-day/${id}/${day}`),
      ],
      ["Event", "text", ({ title }) => title],
      ["Last star", "plain", ({ lastAt }) => ago(lastAt, now)],
      ["Stars, all days", "number", ({ stars }) => stars],
      ["Weight, all days", "number", ({ weight }) => weight],
    ],
    empty: emptyWords(search),
  });
  return html`${list}${(dayPage ?? events).more}`;
}

function emptyWords({ q }: Search): string {
  return q === "" ? "No star has reached one yet." : "None that fits has had a star.";
}

/** Where a search leads to one event, all its days are listed instead of the newest. */
async function daysOfTheOne(
  sql: Sql,
  { type, day, before }: Search,
  [event, ...others]: readonly { readonly id: string }[],
) {
  if (type !== "event-day" || day !== undefined || event === undefined || others.length > 0) {
    return undefined;
  }
  return listDaysOfEvent(sql, { event: event.id, before, limit: PER_PAGE + 1 });
}

function page({ q, type }: Search, list: Html): Html {
  const order = type === "wallet-day" ? ", newest star first" : ", by event id";
  return html`<form class="row" method="get" action="/ops/actors" role="search">
<div class="grow"><label for="q">Wallet, event, day, or a whole name</label>
<input id="q" name="q" type="search" value="${q}" placeholder="0.0.1001 · 2026-11-20 · event-day/meetup/2026-11-20"></div>
<button>Search</button>
</form>
<nav class="tabs" aria-label="Kinds of actors">${ACTOR_TYPES.map(
    (other) =>
      html`<a href="${pathOf({ type: other, q })}"${other === type ? html` aria-current="page"` : ""}>${kindWords(other)}s</a>`,
  )}</nav>
${section(`${kindWords(type)}s${q === "" ? order : ` for “${q}”`}`, list)}
<p class="hint">Every actor that a star has reached is here, whichever process decided it. ${
    type === "wallet-day"
      ? "Live: its state is kept ready in Redis for every process. Stored: it is read from the journal when it is needed."
      : type === "event-day"
        ? "Each line leads to the event's newest day; search for one event to see all its days."
        : ""
  } An actor that no star has reached can be looked at by its whole name.</p>`;
}
