import { type EventTables, emptyTables } from "../../../../actors/whole.ts";
import { type ActorName, formatActorName } from "../../../hosting/actor-name.ts";
import { foldEventDay } from "../../../journal/event-history.ts";
import { foldMint } from "../../../journal/fold-mint.ts";
import { type MintHappening, readMintHistory } from "../../../journal/mint-history.ts";
import type { EventNumbers } from "../../../reads/console-event.ts";
import type { Sql } from "../../../store/postgres.ts";
import { number, signed } from "../amounts.ts";
import { type Content, facts, type Html, html, raw } from "../markup.ts";

/** What a kind of actor brings to its page; the rest is the same for all. */
export interface ActorView {
  /** What it is, as people call it; its name stands below. */
  readonly title: string;
  readonly state: string;
  /** How many stars it has accepted or counted; at least so many where they are too many to be counted. */
  readonly version: number;
  readonly isPartial?: boolean;
  /** Where its state was read from, in words. */
  readonly source: string;
  readonly context: Content;
  /** Sections of this kind alone, before the history. */
  readonly more: Content;
  /** The history, event by event. */
  readonly history: Content;
  /** Sections of this kind alone, after the history. */
  readonly below?: Content;
  /** What `?at=` shows, when it is asked for, and the state then where it is known. */
  readonly past: { readonly state: string | null; readonly section: Content } | null;
}

/** A history that is longer is walked by the command alone: a page answers at once. */
export const STEPS_MAX = 5_000;

export function afterLink(id: string, step: number, text: string): Html {
  return html`<a href="/ops/actors/${id}?at=${step}#past" title="The state after event ${number(step)}">${text}</a>`;
}

/** The frame around a past state, with the ways to the steps beside it. */
export function pastState(
  id: string,
  place: { readonly step: number; readonly last: number },
  content: Content,
): Html {
  const { step, last } = place;
  const way = (to: number, text: string): Html =>
    to < 0 || to > last
      ? raw("")
      : html`<a class="button" href="/ops/actors/${id}?at=${to}#past">${text}</a>`;
  const title =
    step === 0 ? "Before the first event" : `After event ${number(step)} of ${number(last)}`;
  return html`<section class="card past" id="past"><header><h2>${title}</h2><a href="/ops/actors/${id}">Back to now</a></header>
${content}
<nav class="pager" aria-label="Steps">${way(step - 1, "← One event back")}${way(step + 1, "One event on →")}</nav></section>`;
}

export type EventName = Exclude<ActorName, { type: "wallet-day" }>;

/** The actor as it stood after so many of its events: folded by the machine, not remembered. */
export async function eventPast(
  sql: Sql,
  name: EventName,
  { asked, numbers }: { readonly asked: number | undefined; readonly numbers: EventNumbers },
): Promise<ActorView["past"]> {
  if (asked === undefined) return null;
  const id = formatActorName(name);
  if (numbers.isPartial || numbers.stars + numbers.releases > STEPS_MAX) {
    const tooLong = html`<p class="notice warn">More than ${number(STEPS_MAX)} events: this history is too long to be walked here.</p>`;
    return { state: null, section: tooLong };
  }
  // Releases are events of a mint too.
  const last = numbers.stars + numbers.releases;
  const step = Math.min(asked, last);
  const [before, now] = await Promise.all([
    step === 0 ? null : tablesAfter(sql, name, step - 1),
    tablesAfter(sql, name, step),
  ]);
  // Machines of events have one state each, at all times.
  return { state: null, section: pastState(id, { step, last }, difference(before, now)) };
}

/** The actor as it stood after the first `steps` of its stars and releases. */
async function tablesAfter(sql: Sql, name: EventName, steps: number): Promise<EventTables> {
  if (name.type === "event-day") return foldEventDay(sql, name, steps);
  const tables = emptyTables();
  await foldMint(name.event, tables, first(readMintHistory(sql, name.event), steps));
  return tables;
}

async function* first(
  pages: AsyncIterable<readonly MintHappening[]>,
  steps: number,
): AsyncGenerator<readonly MintHappening[]> {
  let left = steps;
  for await (const page of pages) {
    if (left <= 0) return;
    yield page.slice(0, left);
    left -= page.length;
  }
}

function difference(then: EventTables | null, now: EventTables): Html {
  const { weight, stars, A, B } = now;
  const sizes = `${number(A.size)} of A, ${number(B.size)} of B`;
  const change = then === null ? "" : ` (${signed(weight - then.weight)} by this event)`;
  return facts([
    ["Stars", number(stars)],
    ["Weight", `${number(weight)}${change}`],
    ["NFTs that counted", sizes],
    ["Newly counted", then === null ? null : gained(then, now)],
    ["No longer counted", then === null ? null : gained(now, then)],
  ]);
}

/** Serials of one event, some of which may be many. */
const SERIALS_SHOWN = 30;

/** The NFTs that count in the second of two states and not for the same wallet in the first. */
function gained(then: EventTables, now: EventTables): string | null {
  const serials = (["A", "B"] as const).flatMap((collection) =>
    [...now[collection]]
      .filter(([serial, { wallet }]) => then[collection].get(serial)?.wallet !== wallet)
      .map(([serial, { wallet }]) => `${collection} ${serial} for ${wallet}`),
  );
  if (serials.length === 0) return null;
  const more = serials.length - SERIALS_SHOWN;
  return `${serials.slice(0, SERIALS_SHOWN).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
