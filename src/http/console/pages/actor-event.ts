import { TerminalError } from "../../../errors.ts";
import { type ActorName, formatActorName } from "../../../hosting/actor-name.ts";
import { walletOf } from "../../../journal/star-record.ts";
import { findEvent } from "../../../reads/console-actors.ts";
import {
  type AfterHappening,
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
  badge,
  type Content,
  facts,
  type Html,
  html,
  moment,
  number,
  section,
  table,
} from "../markup.ts";
import type { PageRequest, PagesDeps } from "../page.ts";
import { older, textOf, wholeNumber } from "../paging.ts";
import { serialsText } from "../serials.ts";
import { eventPast } from "./actor-event-past.ts";
import { type ActorView, afterLink, STEPS_MAX } from "./actor-view.ts";
import { weightWords } from "./star-words.ts";

type EventName = Exclude<ActorName, { type: "wallet-day" }>;

const NFTS_PER_PAGE = 100;
const EVENTS_PER_PAGE = 50;

/** An event's actor in words: which NFTs have counted, for whom, and what each star brought. */
export async function eventActor(
  { sql }: PagesDeps,
  name: EventName,
  { query, now }: PageRequest,
): Promise<ActorView> {
  const day = name.type === "event-day" ? name.day : null;
  const after = readHappening(query);
  const [event, numbers, nfts, happenings] = await Promise.all([
    findEvent(sql, name.event),
    eventNumbers(sql, name.event, day),
    listCounted(sql, name.event, { day, after: readNft(query), limit: NFTS_PER_PAGE + 1 }),
    name.type === "event-day"
      ? starsOfEvent(sql, name.event, { day: name.day, after, limit: EVENTS_PER_PAGE + 1 })
      : happeningsOfMint(sql, name.event, { after, limit: EVENTS_PER_PAGE + 1 }),
  ]);
  const title = event?.title ?? name.event;
  const [newest] = happenings;
  return {
    title: name.type === "event-day" ? `${title} on ${name.day}` : `Forever mint ${title}`,
    state: name.type === "event-day" ? "counting" : "collecting",
    version: numbers.stars,
    isPartial: numbers.isPartial,
    source:
      name.type === "event-day"
        ? "its state was read from the journal"
        : "live: its state is what counts now",
    context: facts(inWords(name, numbers, event?.title ?? "not in the catalogue")),
    more: section("NFTs that have counted", counted(name, nfts)),
    history: history(name, {
      happenings,
      now,
      newest:
        newest === undefined || newest.steps > STEPS_MAX
          ? undefined
          : readNewest(query, newest.steps),
    }),
    past: await eventPast(sql, name, { asked: wholeNumber(query, "at"), numbers }),
  } as ActorView;
}

function inWords(name: EventName, numbers: EventNumbers, title: string): [string, Content][] {
  const { stars, weight, isPartial } = numbers;
  const some = isPartial ? "at least " : "";
  return [
    ["Event", html`${title} <span class="code quiet">${name.event}</span>`],
    name.type === "event-day" ? ["UTC day", name.day] : ["Ends", "never: it is a forever mint"],
    ["Stars", `${some}${number(stars)}`],
    ["Weight", `${some}${number(weight)}`],
    ...(name.type === "event-day"
      ? []
      : ([["Wallets that count", `${number(numbers.wallets)}, 1 each`]] as [string, Content][])),
    ["Collection A", `${number(numbers.countedA)} ${nftWords(numbers.countedA)} counted, 1 each`],
    ["Collection B", `${number(numbers.countedB)} ${nftWords(numbers.countedB)} counted, 5 each`],
    [
      "See also",
      html`<a href="/ops/feed?event=${name.event}">its decisions, live</a>, <a href="/ops/stars?q=${name.event}">its stars</a>`,
    ],
  ];
}

function nftWords(count: number): string {
  return count === 1 ? "NFT has" : "NFTs have";
}

/** Where a page of the history goes on: `12`, or `12/A/7` among what ended together. */
function readHappening(query: URLSearchParams): AfterHappening | undefined {
  const text = textOf(query, "before");
  if (text === "") return undefined;
  const [, order, collection, serial] = /^(\d{1,15})(?:\/(A|B)\/(\d{1,15}))?$/.exec(text) ?? [];
  if (order === undefined)
    throw new TerminalError("INVALID_REQUEST", "before must be as 12 or 12/A/7");
  const nft = collection === "A" || collection === "B" ? collection : null;
  return { order: Number(order), collection: nft, serial: nft === null ? null : Number(serial) };
}

/** The step that the first row of a page of the history is; pages after the first name it. */
function readNewest(query: URLSearchParams, total: number): number | undefined {
  return query.get("before") === null ? total : wholeNumber(query, "step");
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
    columns: ["Collection and serials", "For wallet", { label: "By star", isWhole: true }],
    rows: byStar(nfts).map(([{ collection, wallet, starId }, mine]) => [
      `${collection} ${serialsText(mine.map(({ serial }) => serial))}`,
      walletOf(wallet),
      starLink(starId),
    ]),
    empty: "None yet: no star has brought an NFT.",
  })}${older(next, "More NFTs")}`;
}

/** What one star brought of a collection is one line. */
function byStar(nfts: readonly CountedNft[]): readonly (readonly [CountedNft, CountedNft[]])[] {
  const lines = new Map<string, [CountedNft, CountedNft[]]>();
  for (const nft of nfts) {
    const key = `${nft.collection} ${nft.starId}`;
    const line = lines.get(key);
    if (line === undefined) lines.set(key, [nft, [nft]]);
    else line[1].push(nft);
  }
  return [...lines.values()];
}

function history(
  name: EventName,
  {
    happenings: found,
    now,
    newest,
  }: {
    readonly happenings: readonly EventHappening[];
    readonly now: number;
    /** Which step the first of them is; undefined where steps are not counted. */
    readonly newest: number | undefined;
  },
): Html {
  const happenings = found.slice(0, EVENTS_PER_PAGE);
  const last = happenings.at(-1);
  const id = formatActorName(name);
  // What the daily check ended together is one step.
  const steps = [...new Set(happenings.map(({ order }) => order))];
  const next = found[EVENTS_PER_PAGE];
  const place =
    last?.collection == null ? last?.order : `${last.order}/${last.collection}/${last.serial}`;
  const shown = next?.order === last?.order ? steps.length - 1 : steps.length;
  const step = newest === undefined ? "" : `&step=${newest - shown}`;
  const rowOf = (happening: EventHappening): Content[] => {
    const row =
      happening.kind === "star"
        ? starRow(happening, now, name.type === "event-day")
        : releaseRow(happening, now);
    if (newest === undefined) return row;
    const step = newest - steps.indexOf(happening.order);
    return [...row, afterLink(id, step, `after ${number(step)}`)];
  };
  return html`<p><a class="button" href="/ops/actors/${id}?at=0#past">Walk through from the beginning</a></p>
${table({
  caption: "What happened, newest first",
  columns: [
    "When",
    { label: "Who", isWhole: true, isTitle: true },
    "Event",
    "Decision",
    { label: "Why", isText: true },
    { label: "Weight", isNumber: true },
    { label: "Star", isWhole: true },
    ...(newest === undefined ? [] : [{ label: "State", isWhole: true }]),
  ],
  rows: happenings.map(rowOf),
  empty: "Nothing has happened yet. The first star shows here as soon as it is accepted.",
})}${older(next === undefined ? null : `/ops/actors/${id}?before=${place}${step}`)}`;
}

function starRow(star: EventHappening, now: number, isDayKnown: boolean): Content[] {
  const wallet = walletOf(star.wallet);
  const day = new Date(star.at).toISOString().slice(0, 10);
  return [
    moment(star.at, now, isDayKnown),
    actorLink(`wallet-day/${wallet}/${day}`, wallet),
    "star",
    badge("good", "counted"),
    weightWords(star),
    `+${number(star.weight)}`,
    starLink(star.id),
  ];
}

function releaseRow(release: EventHappening, now: number): Content[] {
  const { collection, serial, owner, deleted, spare } = release;
  const what = `${collection} ${serial}`;
  const why = deleted ? "it no longer exists" : `it belongs to ${owner ?? "no account"} now`;
  return [
    moment(release.at, now),
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
