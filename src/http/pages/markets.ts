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
import { onExplorer } from "../console/links.ts";
import {
  type Content,
  type Fact,
  facts,
  type Html,
  html,
  number,
  section,
} from "../console/markup.ts";
import { limit, namePart, offset } from "../v1/parameters.ts";
import { filterForm, NOTHING_FURTHER, pager } from "./filters.ts";
import { type Item, itemHead, itemList, windowFacts } from "./items.ts";
import type { Page } from "./page.ts";
import { found, type Reading, readFilters } from "./reading.ts";
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
  return [
    listPage(tokens, reading),
    itemPage(tokens, reading),
    listPage(collections, reading),
    itemPage(collections, reading),
  ];
}

const shape = z.strictObject({ q: namePart(), limit: limit(50), offset: offset() });

/** A tab of the markets list: all items by today's stars, page by page, or those with a name. */
function listPage<T extends RankedType>(
  { type, path, nav, title, one, item }: Market<T>,
  { sql, share }: Reading,
): Page {
  return {
    path,
    nav,
    async show({ query, visitor }) {
      const given = readFilters(shape, query);
      const q = given.q?.trim() || undefined;
      const asked = { ...given, q };
      const { rows, total } = await share(`${path} ${JSON.stringify(asked)}`, (at) =>
        listRanked(sql, type, { ...asked, now: at }),
      );
      const search = { parameter: "q", label: "Name", written: q };
      const none = q === undefined ? `No ${one} is listed yet.` : `No ${one} has such a name.`;
      const empty = given.offset > 0 ? NOTHING_FURTHER : none;
      return {
        title,
        body: html`<h1>Markets</h1>
${tabs(path)}
${filterForm(path, `Which ${one}s`, [search])}
${itemList(rows.map(item), visitor, { empty })}
${pager(path, { q, limit: query.get("limit") }, { ...given, total })}`,
      };
    },
  };
}

function tabs(current: string): Html {
  const tab = ({ path, nav }: { readonly path: string; readonly nav: string }): Html =>
    html`<a href="${path}"${path === current ? html` aria-current="page"` : ""}>${nav}</a>`;
  return html`<nav class="tabs" aria-label="Markets">${tab(tokens)}${tab(collections)}</nav>`;
}

/** `/tokens/{id}` or `/collections/{id}` */
function itemPage<T extends RankedType>(
  { type, path, one, item, details }: Market<T>,
  { sql, share, explorerUrl }: Reading,
): Page {
  return {
    path: `${path}/:id`,
    async show({ id, visitor }) {
      const row = isEntityId(id)
        ? await share(`${one} ${id}`, (at) => readItem(sql, type, { id, now: at }))
        : undefined;
      const shown = found(row, one);
      const ledgerId = onExplorer(explorerUrl, `token/${id}`, id);
      return {
        title: shown.name,
        body: html`${itemHead(item(shown), visitor)}
${section("Details", facts([...details(shown, ledgerId), ...windowFacts(shown)]))}`,
      };
    },
  };
}
