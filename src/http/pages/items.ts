import { mayRepeat, type Scope } from "../../../actors/content.ts";
import type { ItemName } from "../../reads/directory-items.ts";
import type { TargetName } from "../../reads/targets.ts";
import { number } from "../console/amounts.ts";
import { type Content, type Fact, type Html, html, raw } from "../console/markup.ts";
import type { Visitor } from "./page.ts";
import { name, plainName } from "./text.ts";
import { carried } from "./words.ts";

/** Something to star, as every page shows it. */
export interface Item extends TargetName {
  readonly name: string;
  readonly totalVotes: number;
  /** Within what NFTs count once there. */
  readonly scope: Scope;
  /** One line of what it is. */
  readonly kind: Content;
}

const FOLDERS = {
  event: "events",
  token: "tokens",
  collection: "collections",
  project: "projects",
} as const;

function itemPath({ type, id }: TargetName): string {
  return `/${FOLDERS[type]}/${id}`;
}

/** An item by its name, which leads to its page while there is one. */
export function itemLink(item: TargetName, { name: named, isShown }: ItemName): Html {
  return isShown ? html`<a href="${itemPath(item)}">${name(named)}</a>` : name(named);
}

/** @param names of `itemNames`; an item that is not among them is called by its id */
export function nameIn(names: ReadonlyMap<string, ItemName>, { type, id }: TargetName): ItemName {
  return names.get(`${type}/${id}`) ?? { name: id, isShown: false };
}

/**
 * A list of items, each with its star.
 *
 * @param given.empty what to say where there are none
 * @param given.level of the items' headings: one below what stands above the list
 */
export function itemList(
  items: readonly Item[],
  visitor: Visitor | null,
  { empty, level = 2 }: { readonly empty: string; readonly level?: 2 | 3 },
): Html {
  if (items.length === 0) return html`<p class="empty">${empty}</p>`;
  return html`<ul class="items">${items.map((item) => card(item, visitor, level))}</ul>`;
}

function card(item: Item, visitor: Visitor | null, level: 2 | 3): Html {
  const link = itemLink(item, { name: item.name, isShown: true });
  const heading = level === 2 ? html`<h2>${link}</h2>` : html`<h3>${link}</h3>`;
  return html`<li class="item">${standIn(`${item.type}/${item.id}`)}
<div class="what">${heading}<p class="hint">${item.kind}</p></div>
${vote(item, visitor)}${carries(item, visitor)}</li>
`;
}

/** The head of an item's own page: its picture, name and star. */
export function itemHead(item: Item, visitor: Visitor | null): Html {
  return html`<div class="item head">${standIn(`${item.type}/${item.id}`)}
<div class="what"><h1>${name(item.name)}</h1><p class="hint">${item.kind}</p></div>
${vote(item, visitor)}${
  visitor === null
    ? html`<p class="carries hint">Sign in to see what your star would carry.</p>`
    : carries(item, visitor)
}</div>
`;
}

/** Where the page's script says what a star would carry; its room is kept. */
function carries({ type, id, scope }: Item, visitor: Visitor | null): Content {
  if (visitor === null) return null;
  const key = `${type}/${id}`;
  const star = visitor.starsToday.find(({ target }) => target === key);
  const text =
    star === undefined || mayRepeat(scope)
      ? ""
      : html`${carried(star.weight)} <a href="/stars/${star.id}">Receipt</a>`;
  return html`<p class="carries hint" id="carries-${key}" data-carries="${key}">${text}</p>`;
}

/** The counter and the star. Without scripts the star cannot be pressed; the counter is read. */
function vote({ type, id, name: named, totalVotes, scope }: Item, visitor: Visitor | null): Html {
  const key = `${type}/${id}`;
  const isGiven = visitor?.starsToday.some(({ target }) => target === key) ?? false;
  const described = visitor === null ? "" : html` aria-describedby="carries-${key}"`;
  return html`<div class="vote"><p class="count"><strong data-counter="${key}">${number(totalVotes)}</strong> <span>${type === "event" ? "in all" : "today"}</span></p>
<button type="button" class="star" disabled data-star="${key}" data-scope="${scope}" aria-pressed="${String(isGiven)}" aria-label="Star ${plainName(named)}"${described}><span aria-hidden="true"></span></button></div>`;
}

/** What the stars of an item weigh of late. */
export function windowFacts(item: {
  readonly votes7d: number;
  readonly votes30d: number;
}): readonly Fact[] {
  return [
    ["Weight in 7 days", number(item.votes7d)],
    ["Weight in 30 days", number(item.votes30d)],
  ];
}

const COLOURS: readonly (readonly [sky: string, sea: string, sun: string])[] = [
  ["#cfe3f5", "#2b6ca3", "#f2a93b"],
  ["#f7dccb", "#8c4a5e", "#e8743b"],
  ["#d8ecd9", "#2f7d63", "#d9a62e"],
  ["#e3dcf3", "#5b4a9c", "#d9689a"],
  ["#1f3350", "#4f86b8", "#f3e3b0"],
  ["#fbe9b8", "#c0703a", "#c93f3a"],
  ["#243b3a", "#57a293", "#f0b64c"],
  ["#dfe6ea", "#4a5f73", "#7fa7c4"],
];

/**
 * A drawn stand-in for an item's picture: sea and light, the same for the same item always. Pictures
 * of the catalogue lie on other hosts, which would learn who looks at what; the pages ask none.
 *
 * @param key `<type>/<id>`
 */
export function standIn(key: string): Html {
  const seed = hashOf(key);
  const pick = (shift: number, choices: number): number => (seed >>> shift) % choices;
  const lift = 1 + pick(3, 4) * 0.5;
  const wave = (top: number): string => `M-${pick(7, 4)} ${top}q2-${lift} 4 0t4 0t4 0t4 0V8H-4z`;
  const [sky, sea, sun] = COLOURS[pick(23, COLOURS.length)] ?? [];
  const light = `<circle fill="${sun}" cx="${2 + pick(11, 5)}" cy="${1.5 + pick(15, 3) * 0.5}" r="${0.75 + pick(19, 4) * 0.25}"/>`;
  const waves = `<path d="${wave(4)}"/><path d="${wave(6)}"/>`;
  return html`<svg class="art" viewBox="0 0 8 8" width="48" height="48" fill="${sea}" aria-hidden="true" focusable="false"><rect width="8" height="8" fill="${sky}"/>${raw(light + waves)}</svg>`;
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  // Short keys differ in their ends alone: spread that over all bits.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
