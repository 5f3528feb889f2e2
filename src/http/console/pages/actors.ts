import { type Day, dayOf, isDay } from "../../../../actors/day.ts";
import { ACTOR_TYPES, type ActorType, parseActorName } from "../../../hosting/actor-name.ts";
import { accountNumber, walletOf } from "../../../journal/star-record.ts";
import { isEntityId } from "../../../ledger/entity-id.ts";
import { listDaysOfEvent, listEvents, listWalletDays } from "../../../reads/console-actors.ts";
import type { Sql } from "../../../store/postgres.ts";
import { UUID } from "../forms.ts";
import { actorLink } from "../links.ts";
import { ago, badge, type Content, type Html, html, number, section, table } from "../markup.ts";
import type { Page, PagesDeps } from "../page.ts";
import { older, textOf } from "../paging.ts";
import { goTo } from "../reply.ts";
import { kindWords } from "../words.ts";

/** What somebody looks for. */
interface Search {
  readonly type: ActorType;
  readonly q: string;
  readonly wallet?: string | undefined;
  readonly day?: Day | undefined;
  readonly text?: string | undefined;
  readonly after: string;
  /** Only days of one event before this one. */
  readonly before: Day | undefined;
  readonly now: number;
}

interface Found {
  readonly columns: Parameters<typeof table>[0]["columns"];
  readonly rows: readonly (readonly Content[])[];
  /** Where the list goes on, as the address says it; null at its end. */
  readonly next: Readonly<Record<string, string>> | null;
}

const PER_PAGE = 50;

/** The actors of every process, live or at rest: an actor exists when it is named. */
export function actorsPage(deps: PagesDeps): Page {
  return {
    path: "/actors",
    nav: "Actors",
    async show({ query, now, context }) {
      const q = textOf(query, "q");
      if (parseActorName(q) !== undefined) return goTo(context, `/ops/actors/${q}`);
      const search = { ...readSearch(q, query), now };
      const found = await find(deps, search);
      return { title: "Actors", body: page(search, found) };
    },
  };
}

function readSearch(q: string, query: URLSearchParams): Omit<Search, "now"> {
  const words = q.split(/\s+/).filter(Boolean);
  const wallet = words.find(isEntityId);
  const day = words.find(isDay);
  const rest = words.filter((word) => word !== wallet && word !== day).join(" ");
  const asked = ACTOR_TYPES.find((type) => type === query.get("type"));
  const text = rest === "" ? undefined : rest;
  const type = asked ?? (text === undefined ? "wallet-day" : "event-day");
  const [after, before] = [textOf(query, "after"), textOf(query, "before")];
  return { type, q, wallet, day, text, after, before: isDay(before) ? before : undefined };
}

function find(deps: PagesDeps, search: Search): Promise<Found> {
  return search.type === "wallet-day" ? walletDays(deps, search) : events(deps, search);
}

async function walletDays({ sql, resting }: PagesDeps, search: Search): Promise<Found> {
  const { wallet, day, after, now } = search;
  const [afterDay = "", starId = ""] = after.split(" ");
  const all = await listWalletDays(sql, {
    wallet: wallet === undefined ? undefined : accountNumber(wallet),
    day,
    limit: PER_PAGE + 1,
    after: isDay(afterDay) && UUID.test(starId) ? { day: afterDay, starId } : undefined,
  });
  const rows = all.slice(0, PER_PAGE);
  const atRest = await Promise.all(
    rows.map(({ wallet, day, stars, lastAt }) =>
      resting.snapshots?.read({ wallet: walletOf(wallet), day }, { used: stars, lastAt }),
    ),
  );
  const last = rows.at(-1);
  return {
    columns: [
      { label: "Actor", isWhole: true },
      { label: "Stars", isNumber: true },
      "Last star",
      "Live or stored",
    ],
    rows: rows.map((row, index) => [
      actorLink(`wallet-day/${walletOf(row.wallet)}/${row.day}`),
      number(row.stars),
      ago(row.lastAt, now),
      atRest[index] ? badge("good", "live") : badge("plain", "stored"),
    ]),
    next:
      all.length > PER_PAGE && last !== undefined ? { after: `${last.day} ${last.starId}` } : null,
  };
}

async function events({ sql }: PagesDeps, search: Search): Promise<Found> {
  const { type, day, text, after, now } = search;
  const isForeverMint = type === "forever-mint";
  const all = await listEvents(sql, {
    isForeverMint,
    text,
    day,
    after: after === "" ? undefined : after,
    limit: PER_PAGE + 1,
  });
  const rows = all.slice(0, PER_PAGE);
  const days = await daysOfTheOne(sql, search, rows);
  const last = days === undefined ? rows.at(-1)?.id : days[PER_PAGE - 1]?.day;
  const isMore = (days ?? all).length > PER_PAGE && last !== undefined;
  return {
    columns: [
      { label: "Actor", isWhole: true },
      { label: "Event", isText: true },
      "Last star",
      { label: "Stars, all days", isNumber: true },
      { label: "Weight, all days", isNumber: true },
    ],
    rows: rows.flatMap((event) =>
      (days?.slice(0, PER_PAGE) ?? [{ day: dayOf(event.lastAt), lastAt: event.lastAt }]).map(
        ({ day: starred, lastAt }) => [
          actorLink(
            isForeverMint ? `forever-mint/${event.id}` : `event-day/${event.id}/${starred}`,
          ),
          event.title,
          ago(lastAt, now),
          number(event.stars),
          number(event.weight),
        ],
      ),
    ),
    next: isMore ? (days === undefined ? { after: last } : { after, before: last }) : null,
  };
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

/** How a whole list is ordered. */
const ORDERS: Readonly<Record<ActorType, string>> = {
  "wallet-day": ", newest star first",
  "event-day": ", by event id",
  "forever-mint": ", by event id",
};

function page(search: Search, { columns, rows, next }: Found): Html {
  const { q, type } = search;
  const link = (other: ActorType): string =>
    `/ops/actors?${new URLSearchParams({ type: other, q })}`;
  const more = next === null ? null : `/ops/actors?${new URLSearchParams({ type, q, ...next })}`;
  return html`<form class="row" method="get" action="/ops/actors" role="search">
<div class="grow"><label for="q">Wallet, event, day, or a whole name</label>
<input id="q" name="q" type="search" value="${q}" placeholder="0.0.1001 · 2026-11-20 · event-day/meetup/2026-11-20"></div>
<button>Search</button>
</form>
<nav class="tabs" aria-label="Kinds of actors">${ACTOR_TYPES.map(
    (other) =>
      html`<a href="${link(other)}"${other === type ? html` aria-current="page"` : ""}>${kindWords(other)}s</a>`,
  )}</nav>
${section(
  `${kindWords(type)}s${q === "" ? ORDERS[type] : ` for “${q}”`}`,
  html`${table({ caption: "Actors", columns, rows, empty: q === "" ? "No star has reached one yet." : "None that fits has had a star." })}${older(more, "More")}`,
)}
<p class="hint">Every actor that a star has reached is here, whichever process decided it. ${
    type === "wallet-day"
      ? "Live: its state is kept ready in Redis for every process. Stored: it is read from the journal when it is needed."
      : type === "event-day"
        ? "Each line leads to the event's newest day; search for one event to see all its days."
        : ""
  } An actor that no star has reached can be looked at by its whole name.</p>`;
}
