import { mayRepeat, type Scope } from "../../../actors/content.ts";
import type { ItemName } from "../../reads/directory-items.ts";
import type { TargetName } from "../../reads/targets.ts";
import { type Content, type Fact, type Html, html, number } from "../console/markup.ts";
import type { Visitor } from "./page.ts";
import { standIn } from "./picture.ts";
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

/** The page of an item. */
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
