import { z } from "zod";
import { counted } from "../../counted.ts";
import { isEntityId } from "../../ledger/entity-id.ts";
import { readItem } from "../../reads/directory-items.ts";
import {
  type CollectionRow,
  listRanked,
  type RankedRows,
  type RankedType,
  type TokenRow,
} from "../../reads/markets.ts";
import { number } from "../console/amounts.ts";
import { onExplorer } from "../console/links.ts";
import { type Content, type Fact, facts, type Html, html, section } from "../console/markup.ts";
import { limit, namePart, offset } from "../v1/parameters.ts";
import { type Item, windowFacts } from "./items.ts";
import { itemPage, listPage } from "./lists.ts";
import type { Page, Reading } from "./page.ts";
import { dollars, name } from "./text.ts";

/** A token in a list, and at the head of its page. */
export function tokenItem({
  id,
  symbol,
  name: named,
  totalVotes,
  price,
  marketCap,
}: TokenRow): Item {
  const figures: Content[] = [
    price === null ? "no price" : dollars(price),
    marketCap === null ? null : html` · market cap ${dollars(marketCap)}`,
  ];
  return {
    type: "token",
    id,
    name: named,
    totalVotes,
    scope: "none",
    kind: html`<strong>${name(symbol)}</strong> · ${figures}`,
  };
}

/** An NFT collection, likewise. */
export function collectionItem({
  id,
  name: named,
  totalVotes,
  owners,
  supply,
}: CollectionRow): Item {
  const figures = [
    owners === null ? "" : counted(owners, "owner"),
    supply === null ? "" : counted(supply, "NFT"),
  ];
  return {
    type: "collection",
    id,
    name: named,
    totalVotes,
    scope: "none",
    kind: ["NFT collection", ...figures].filter(Boolean).join(" · "),
  };
}

/** What differs between the markets list's two tabs, and the pages of their items. */
interface Market<T extends RankedType> {
  readonly type: T;
  readonly path: "/tokens" | "/collections";
  /** Its word in the navigation. */
  readonly nav: string;
  readonly title: string;
  /** What one of them is called. */
  readonly one: string;
  readonly item: (row: RankedRows[T]) => Item;
  /** What its page says of it, before the stars it was given lately. */
  readonly details: (row: RankedRows[T], ledgerId: Html) => readonly Fact[];
}

const tokens: Market<"token"> = {
  type: "token",
  path: "/tokens",
  nav: "Tokens",
  title: "Tokens",
  one: "token",
  item: tokenItem,
  details: ({ symbol, price, marketCap }, ledgerId) => [
    ["Symbol", name(symbol)],
    ["Ledger id", ledgerId],
    ["Price", price === null ? "not known" : dollars(price)],
    ["Market cap", marketCap === null ? "not known" : dollars(marketCap)],
  ],
};

const collections: Market<"collection"> = {
  type: "collection",
  path: "/collections",
  nav: "NFTs",
  title: "NFT collections",
  one: "NFT collection",
  item: collectionItem,
  details: ({ owners, supply }, ledgerId) => [
    ["Ledger id", ledgerId],
    ["Owners", owners === null ? "not known" : number(owners)],
    ["NFTs", supply === null ? "not known" : number(supply)],
  ],
};

/** `/tokens` and `/collections`, the markets list's two tabs, each with the pages of its items. */
export function marketPages(reading: Reading): readonly Page[] {
  return [...pagesOf(tokens, reading), ...pagesOf(collections, reading)];
}

const shape = z.strictObject({
  q: namePart()
    .transform((q) => q?.trim() || undefined)
    .pipe(z.string().optional()),
  limit: limit(50),
  offset: offset(),
});

/** A tab of the list, all items by today's stars or those with a name, and the page of each item. */
function pagesOf<T extends RankedType>(market: Market<T>, reading: Reading): readonly Page[] {
  const { type, path, nav, title, one, item, details } = market;
  const { sql, explorerUrl } = reading;
  const list = listPage(reading, {
    path,
    nav,
    title,
    heading: html`<h1>Markets</h1>
${tabs(path)}`,
    label: `Which ${one}s`,
    shape,
    filters: () => [{ parameter: "q", label: "Name" }],
    async read(asked, at) {
      const { rows, total } = await listRanked(sql, type, { ...asked, now: at });
      return { items: rows.map(item), total };
    },
    nothing: ({ q }) =>
      q === undefined ? `No ${one} is listed yet.` : `No ${one} has such a name.`,
  });
  const each = itemPage(reading, {
    path,
    name: one,
    isId: isEntityId,
    read: (id, now) => readItem(sql, type, { id, now }),
    item,
    details(row) {
      const ledgerId = onExplorer(explorerUrl, `token/${row.id}`, row.id);
      return section("Details", facts([...details(row, ledgerId), ...windowFacts(row)]));
    },
  });
  return [list, each];
}

function tabs(current: string): Html {
  const tab = ({ path, nav }: { readonly path: string; readonly nav: string }): Html =>
    html`<a href="${path}"${path === current ? html` aria-current="page"` : ""}>${nav}</a>`;
  return html`<nav class="tabs" aria-label="Markets">${tab(tokens)}${tab(collections)}</nav>`;
}
