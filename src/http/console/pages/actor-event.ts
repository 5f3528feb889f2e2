import type { EventDayState } from "../../../../actors/event-day.ts";
import type { ForeverMintState } from "../../../../actors/forever-mint.ts";
import { TerminalError } from "../../../errors.ts";
import { type ActorName, formatActorName } from "../../../hosting/actor-name.ts";
import { eventDayAfter, foreverMintAfter } from "../../../hosting/time-travel.ts";
import { walletOf } from "../../../journal/star-record.ts";
import { findEvent } from "../../../reads/console-actors.ts";
import {
  type CountedNft,
  type EventHappening,
  type EventNumbers,
  eventNumbers,
  happeningsOfMint,
  listCounted,
  starsOfEvent,
} from "../../../reads/console-event.ts";
import { actorLink, starLink } from "../links.ts";
import {
  ago,
  badge,
  type Content,
  facts,
  type Html,
  html,
  number,
  section,
  table,
} from "../markup.ts";
import type { PageRequest } from "../page.ts";
import { older, textOf, wholeNumber } from "../paging.ts";
import { type ActorDeps, type ActorView, pastState, STEPS_MAX } from "./actor-view.ts";
import { weightWords } from "./star-words.ts";

type EventName = Exclude<ActorName, { type: "wallet-day" }>;

const NFTS_PER_PAGE = 25;
const EVENTS_PER_PAGE = 50;

/** An event's actor in words: which NFTs have counted, for whom, and what each star brought. */
export async function eventActor(
  { sql }: ActorDeps,
  name: EventName,
  { query, now }: PageRequest,
): Promise<ActorView> {
  const day = name.type === "event-day" ? name.day : null;
  const before = wholeNumber(query, "before");
  const [event, numbers, nfts, happenings] = await Promise.all([
    findEvent(sql, name.event),
    eventNumbers(sql, name.event, day),
    listCounted(sql, name.event, { day, after: readNft(query), limit: NFTS_PER_PAGE + 1 }),
    name.type === "event-day"
      ? starsOfEvent(sql, name.event, { day: name.day, before, limit: EVENTS_PER_PAGE + 1 })
      : happeningsOfMint(sql, name.event, { before, limit: EVENTS_PER_PAGE + 1 }),
  ]);
  const [none, some] = name.type === "event-day" ? ["quiet", "counting"] : ["empty", "collecting"];
  return {
    state: numbers.stars === 0 ? none : some,
    version: numbers.stars,
    source: name.type === "event-day" ? "journal" : "live attributions",
    context: facts(inWords(name, numbers, event?.title ?? "not in the catalogue")),
    more: section("NFTs that have counted", counted(name, nfts)),
    history: history(name, { happenings, now }),
    past: await past(sql, name, { asked: wholeNumber(query, "at"), numbers }),
  } as ActorView;
}

function inWords(name: EventName, numbers: EventNumbers, title: string): [string, Content][] {
  const { stars, weight, isMore } = numbers;
  const some = isMore ? "more than " : "";
  return [
    ["Event", title],
    name.type === "event-day" ? ["UTC day", name.day] : ["Ends", "never: it is a forever mint"],
    ["Stars", `${some}${number(stars)}`],
    ["Weight", `${some}${number(weight)}`],
    ...(name.type === "event-day"
      ? []
      : ([["Wallets that count", `${number(numbers.wallets)}, 1 each`]] as [string, Content][])),
    ["Collection A", `${number(numbers.countedA)} NFTs have counted, 1 each`],
    ["Collection B", `${number(numbers.countedB)} NFTs have counted, 5 each`],
  ];
}

function readNft(query: URLSearchParams): Pick<CountedNft, "collection" | "serial"> | undefined {
  const text = textOf(query, "nft");
  const [, collection, serial] = /^(A|B)\/(\d{1,15})$/.exec(text) ?? [];
  if (collection === "A" || collection === "B") return { collection, serial: Number(serial) };
  if (text === "") return undefined;
  throw new TerminalError("INVALID_REQUEST", "nft must be as A/7");
}

function counted(name: EventName, found: readonly CountedNft[]): Html {
  const nfts = found.slice(0, NFTS_PER_PAGE);
  const last = nfts.at(-1);
  const next =
    found.length > NFTS_PER_PAGE && last !== undefined
      ? `/ops/actors/${formatActorName(name)}?nft=${last.collection}/${last.serial}`
      : null;
  return html`${table({
    caption: "NFTs that have counted, by serial, and for whom",
    columns: ["Collection", { label: "Serial", isNumber: true }, "For", "By star"],
    rows: nfts.map(({ collection, serial, wallet, starId }) => [
      collection,
      number(serial),
      walletOf(wallet),
      starLink(starId),
    ]),
    empty: "None.",
  })}${older(next, "More NFTs")}`;
}

function history(
  name: EventName,
  {
    happenings: found,
    now,
  }: { readonly happenings: readonly EventHappening[]; readonly now: number },
): Html {
  const happenings = found.slice(0, EVENTS_PER_PAGE);
  const last = happenings.at(-1);
  const next =
    found.length > EVENTS_PER_PAGE && last !== undefined
      ? `/ops/actors/${formatActorName(name)}?before=${last.order}`
      : null;
  const id = formatActorName(name);
  return html`<p><a class="button" href="/ops/actors/${id}?at=0#past">Walk through from the beginning</a></p>
${table({
  caption: "What happened, newest first",
  columns: [
    "When",
    { label: "Who", isWhole: true },
    { label: "Event", isWhole: true },
    "Decision",
    { label: "Why", isText: true },
    { label: "Weight", isNumber: true },
    "More",
  ],
  rows: happenings.map((happening) =>
    happening.kind === "star" ? starRow(happening, now) : releaseRow(happening, now),
  ),
  empty: "Nothing has happened yet.",
})}${older(next)}`;
}

function starRow(star: EventHappening, now: number): Content[] {
  const wallet = walletOf(star.wallet);
  const day = new Date(star.at).toISOString().slice(0, 10);
  return [
    ago(star.at, now),
    actorLink(`wallet-day/${wallet}/${day}`, wallet),
    "star",
    badge("good", "counted"),
    weightWords(star),
    number(star.weight),
    starLink(star.id),
  ];
}

function releaseRow(release: EventHappening, now: number): Content[] {
  const { collection, serial, owner, deleted, spare } = release;
  const what = `${collection} ${serial}`;
  const why = deleted ? "it no longer exists" : `it belongs to ${owner ?? "nobody"} now`;
  return [
    ago(release.at, now),
    walletOf(release.wallet),
    "daily check",
    badge("warn", spare === null ? "released" : "moved on"),
    spare === null
      ? `NFT ${what} stopped counting: ${why}`
      : `NFT ${what} was lost (${why}); ${collection} ${spare} carries the +5 on`,
    number(release.weight),
    "",
  ];
}

/** The actor as it stood after so many of its events: folded by the machine, not remembered. */
async function past(
  sql: ActorDeps["sql"],
  name: EventName,
  { asked, numbers }: { readonly asked: number | undefined; readonly numbers: EventNumbers },
): Promise<Content> {
  if (asked === undefined) return null;
  const id = formatActorName(name);
  if (numbers.isMore || numbers.stars > STEPS_MAX) {
    return html`<p class="notice warn">More than ${number(STEPS_MAX)} stars: this history is too long to be walked here.</p>`;
  }
  const after = (steps: number): Promise<EventDayState | ForeverMintState> =>
    name.type === "event-day"
      ? eventDayAfter(sql, name, steps)
      : foreverMintAfter(sql, name.event, steps);
  // Releases are events of a mint too: asking for more than there are gives the present.
  const last = name.type === "event-day" ? numbers.stars : Math.max(numbers.stars, asked);
  const step = Math.min(asked, last);
  const [before, now] = await Promise.all([step === 0 ? null : after(step - 1), after(step)]);
  return pastState(id, { step, last, content: difference(before, now) });
}

function difference(
  before: EventDayState | ForeverMintState | null,
  { context }: EventDayState | ForeverMintState,
): Html {
  const { weight, stars, counted } = context;
  const sizes = `${number(Object.keys(counted.A).length)} of A, ${number(Object.keys(counted.B).length)} of B`;
  const then = before?.context;
  const change =
    then === undefined
      ? ""
      : ` (${weight >= then.weight ? "+" : ""}${weight - then.weight} by this event)`;
  return facts([
    ["Stars", number(stars)],
    ["Weight", `${number(weight)}${change}`],
    ["NFTs that counted", sizes],
    ...(then === undefined ? [] : changes(then.counted, counted)),
  ]);
}

/** Serials of one event, some of which may be many. */
const SERIALS_SHOWN = 30;

function changes(
  then: EventDayState["context"]["counted"],
  now: EventDayState["context"]["counted"],
): [string, Content][] {
  const gone = (from: typeof then, to: typeof then): string[] =>
    (["A", "B"] as const).flatMap((collection) =>
      Object.entries(from[collection])
        .filter(([serial, wallet]) => to[collection][Number(serial)] !== wallet)
        .map(([serial, wallet]) => `${collection} ${serial} for ${wallet}`),
    );
  const said = (serials: readonly string[]): string =>
    serials.length > SERIALS_SHOWN
      ? `${serials.slice(0, SERIALS_SHOWN).join(", ")} and ${serials.length - SERIALS_SHOWN} more`
      : serials.join(", ");
  const [added, removed] = [gone(now, then), gone(then, now)];
  return [
    ...(added.length === 0 ? [] : ([["Newly counted", said(added)]] as [string, Content][])),
    ...(removed.length === 0
      ? []
      : ([["No longer counted", said(removed)]] as [string, Content][])),
  ];
}
