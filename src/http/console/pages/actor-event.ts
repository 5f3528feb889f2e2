import { dayOf } from "../../../../actors/day.ts";
import { TerminalError } from "../../../errors.ts";
import { formatActorName } from "../../../hosting/actor-name.ts";
import { entityId } from "../../../ledger/entity-id.ts";
import {
  type AfterHappening,
  CLAIMS_COUNTED_MAX,
  type CountedNft,
  type EventHappening,
  type EventNumbers,
  eventNumbers,
  findEvents,
  happeningsOfMint,
  listCounted,
  type Nft,
  starsOfEvent,
} from "../../../reads/console-event.ts";
import { moment, number, signed } from "../amounts.ts";
import { actorLink, PER_PAGE, pageOf, starLink, textOf, wholeNumber } from "../links.ts";
import {
  alike,
  badge,
  type Column,
  type Content,
  type Fact,
  facts,
  type Html,
  html,
  section,
  table,
} from "../markup.ts";
import type { PageRequest, PagesDeps } from "../page.ts";
import { serialsText, weightWords } from "../words.ts";
import { type ActorView, afterLink, type EventName, eventPast, STEPS_MAX } from "./actor-past.ts";

const NFTS_PER_PAGE = 100;

/** An event's actor in words: which NFTs have counted, for whom, and what each star brought. */
export async function eventActor(
  { sql }: PagesDeps,
  name: EventName,
  request: PageRequest,
): Promise<ActorView> {
  const { query } = request;
  const day = name.type === "event-day" ? name.day : null;
  // Both first: a reading under way when one throws would fail without a listener.
  const after = readHappening(query);
  const afterNft = readNft(query);
  const [events, numbers, nfts, happenings] = await Promise.all([
    findEvents(sql, [name.event]),
    eventNumbers(sql, name.event, day),
    listCounted(sql, name.event, { day, after: afterNft, limit: NFTS_PER_PAGE + 1 }),
    day === null
      ? happeningsOfMint(sql, name.event, { after, limit: PER_PAGE + 1 })
      : starsOfEvent(sql, name.event, { day, after, limit: PER_PAGE + 1 }),
  ]);
  const event = events.get(name.event);
  const title = event?.title ?? name.event;
  const ofKind =
    day === null
      ? {
          title: `Forever mint ${title}`,
          state: "collecting",
          source: "live: its state is what counts now",
        }
      : {
          title: `${title} on ${day}`,
          state: "counting",
          source: "its state was read from the journal",
        };
  return {
    ...ofKind,
    version: numbers.stars,
    isPartial: numbers.isPartial,
    context: facts(inWords(name, numbers, event?.title ?? "not in the catalogue")),
    more: section("NFTs that have counted", counted(name, nfts)),
    history: history(name, request, happenings),
    past: await eventPast(sql, name, { asked: wholeNumber(query, "at"), numbers }),
  };
}

function inWords(name: EventName, numbers: EventNumbers, title: string): readonly Fact[] {
  const { stars, weight, wallets, countedA, countedB, isPartial } = numbers;
  const isDay = name.type === "event-day";
  const some = isPartial ? "at least " : "";
  const claims = (count: number): string =>
    `${count < CLAIMS_COUNTED_MAX ? "" : "at least "}${number(count)}`;
  const counted = (count: number): string =>
    `${claims(count)} ${count === 1 ? "NFT has" : "NFTs have"} counted`;
  return [
    ["Event", html`${title} <span class="code quiet">${name.event}</span>`],
    isDay ? ["UTC day", name.day] : ["Ends", "never: it is a forever mint"],
    ["Stars", `${some}${number(stars)}`],
    ["Weight", `${some}${number(weight)}`],
    ["Wallets that count", isDay ? null : `${claims(wallets)}, 1 each`],
    ["Collection A", `${counted(countedA)}, 1 each`],
    ["Collection B", `${counted(countedB)}, 5 each`],
    [
      "See also",
      html`<a href="/ops/feed?event=${name.event}">its decisions, live</a>, <a href="/ops/stars?q=${name.event}">its stars</a>`,
    ],
  ];
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

/**
 * The step that the first row of a page of the history is; pages after the first name it.
 *
 * @returns undefined where there is none, and where they are too many to be counted
 */
function newestStep(query: URLSearchParams, total: number | undefined): number | undefined {
  if (total === undefined || total > STEPS_MAX) return undefined;
  return query.get("before") === null ? total : wholeNumber(query, "step");
}

function readNft(query: URLSearchParams): Nft | undefined {
  const text = textOf(query, "nft");
  const [, collection, serial] = /^(A|B)\/(\d{1,15})$/.exec(text) ?? [];
  if (collection === "A" || collection === "B") return { collection, serial: Number(serial) };
  if (text === "") return undefined;
  throw new TerminalError("INVALID_REQUEST", "nft must be as A/7");
}

function counted(name: EventName, found: readonly CountedNft[]): Html {
  const after = ({ collection, serial }: CountedNft): string =>
    `/ops/actors/${formatActorName(name)}?nft=${collection}/${serial}`;
  const { shown, more } = pageOf(found, after, "More NFTs", NFTS_PER_PAGE);
  const nfts = table({
    caption: "NFTs that have counted, by serial, and for whom",
    // What one star brought of a collection is one line.
    rows: alike(shown, ({ collection, starId }) => `${collection} ${starId}`),
    columns: [
      [
        "Collection and serials",
        "plain",
        (mine) => `${mine[0].collection} ${serialsText(mine.map(({ serial }) => serial))}`,
      ],
      ["For wallet", "plain", ([{ wallet }]) => entityId(wallet)],
      ["By star", "whole", ([{ starId }]) => starLink(starId)],
    ],
    empty: "None yet: no star has brought an NFT.",
  });
  return html`${nfts}${more}`;
}

function history(
  name: EventName,
  { query, now }: PageRequest,
  found: readonly EventHappening[],
): Html {
  const newest = newestStep(query, found[0]?.steps);
  const id = formatActorName(name);
  // What the daily check ended together is one step.
  const steps = [...new Set(found.slice(0, PER_PAGE).map(({ order }) => order))];
  const after = ({ order, collection, serial }: EventHappening): string => {
    const place = collection === null ? order : `${order}/${collection}/${serial}`;
    const taken = found[PER_PAGE]?.order === order ? steps.length - 1 : steps.length;
    const step = newest === undefined ? "" : `&step=${newest - taken}`;
    return `/ops/actors/${id}?before=${place}${step}`;
  };
  const { shown, more } = pageOf(found, after);
  const state = (newest: number): Column<EventHappening> => [
    "State",
    "whole",
    ({ order }) => {
      const step = newest - steps.indexOf(order);
      return afterLink(id, step, `after ${number(step)}`);
    },
  ];
  const events = table({
    caption: "What happened, newest first",
    rows: shown,
    columns: [
      ["When", "plain", ({ at }) => moment(at, now, name.type === "event-day")],
      ...DECISION,
      ...(newest === undefined ? [] : [state(newest)]),
    ],
    empty: "Nothing has happened yet. The first star shows here as soon as it is accepted.",
  });
  return html`<p><a class="button" href="/ops/actors/${id}?at=0#past">Walk through from the beginning</a></p>
${events}${more}`;
}

/** What ends an attribution: a check, or the star of the NFT's next holder before the day's check. */
const CHECKS = { scheduled: "daily check", manual: "check by hand", star: "next holder's star" };

/** A star's, or a check's, which ends what an NFT added. */
const DECISION: readonly Column<EventHappening>[] = [
  ["Who", "whole title", who],
  ["Event", "whole", ({ id, check }) => (check === null ? "star" : checkLink(id, CHECKS[check]))],
  ["Decision", "plain", decision],
  ["Why", "text", (event) => (event.kind === "star" ? weightWords(event) : lossWords(event))],
  ["Weight", "number", ({ weight }) => signed(weight)],
  ["Star", "whole", ({ kind, id }) => (kind === "star" ? starLink(id) : "")],
];

function who({ kind, wallet: account, at }: EventHappening): Content {
  const wallet = entityId(account);
  return kind === "star" ? actorLink(`wallet-day/${wallet}/${dayOf(at)}`, wallet) : wallet;
}

function checkLink(run: string, text: string): Html {
  return html`<a href="/ops/holdings/runs/${run}">${text}</a>`;
}

function decision({ kind, spare }: EventHappening): Html {
  if (kind === "star") return badge("good", "counted");
  return badge("warn", spare === null ? "released" : "moved on");
}

function lossWords({ collection, serial, owner, deleted, spare }: EventHappening): string {
  const nft = `NFT ${collection} ${serial}`;
  const why = deleted ? "it no longer exists" : `it belongs to ${owner ?? "no account"} now`;
  return spare === null
    ? `${nft} stopped counting: ${why}`
    : `${nft} was lost (${why}); ${collection} ${spare} carries the +5 on`;
}
