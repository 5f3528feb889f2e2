import type { z } from "zod";
import { type Content, type Html, html, options as optionsOf } from "../console/markup.ts";
import { NAME_PART_CHARACTERS_MAX } from "../v1/parameters.ts";
import { type Item, itemHead, itemList } from "./items.ts";
import { found, type Page, type Reading, readFilters } from "./page.ts";

/** One of a few words to choose from, or, without them, a part of a name to be written. */
export interface Filter {
  readonly parameter: string;
  readonly label: string;
  readonly choices?: {
    /** The word of the empty choice: what the list shows without it. */
    readonly unset: string;
    readonly words: readonly (readonly [value: string, text: string])[];
  };
}

/** What a list is asked with: its filters, and the page of it. */
type Asked = { readonly limit: number; readonly offset: number } & {
  readonly [filter: string]: string | number | undefined;
};

/** A page of many items. @param list.nothing what it says where none fits what was asked */
export function listPage<Q extends Asked>(
  { share }: Reading,
  list: {
    readonly path: string;
    readonly nav: string;
    readonly title: string;
    /** Above its filters. */
    readonly heading: Content;
    /** Of the form with its filters. */
    readonly label: string;
    readonly shape: z.ZodObject & z.ZodType<Q>;
    readonly filters: (asked: Q) => readonly Filter[] | Promise<readonly Filter[]>;
    /** @param at the instant of which the list is, epoch milliseconds */
    readonly read: (
      asked: Q,
      at: number,
    ) => Promise<{ readonly items: readonly Item[]; readonly total: number }>;
    readonly nothing: (asked: Q) => string;
  },
): Page {
  const { path, nav, title, heading, label, shape } = list;
  return {
    path,
    nav,
    async show({ query, visitor }) {
      const asked: Q = readFilters(shape, query);
      const [{ items, total }, filters] = await Promise.all([
        share(`${path} ${JSON.stringify(asked)}`, (at) => list.read(asked, at)),
        list.filters(asked),
      ]);
      const { limit, offset, ...chosen } = asked;
      // Of somebody who went on too far.
      const empty = offset > 0 ? "Nothing is listed this far on." : list.nothing(asked);
      return {
        title,
        body: html`${heading}
${filterForm({ path, label }, filters, chosen)}
${itemList(items, visitor, { empty })}
${pager(path, { ...chosen, limit: query.get("limit") }, { limit, offset, total })}`,
      };
    },
  };
}

/** The page of one item of a list: its star, and what is known of it. */
export function itemPage<Row>(
  { share }: Reading,
  one: {
    /** Of the list. */
    readonly path: string;
    /** What it is called. */
    readonly name: string;
    readonly isId: (id: string) => boolean;
    readonly read: (id: string, at: number) => Promise<Row | undefined>;
    readonly item: (row: Row, now: number) => Item;
    readonly details: (row: Row) => Content;
  },
): Page {
  return {
    path: `${one.path}/:id`,
    async show({ id, now, visitor }) {
      const read = () => share(`${one.name} ${id}`, (at) => one.read(id, at));
      const row = found(one.isId(id) ? await read() : undefined, one.name);
      const item = one.item(row, now);
      return { title: item.name, body: html`${itemHead(item, visitor)}\n${one.details(row)}` };
    },
  };
}

/** A form that asks the same page for less. Who goes back finds in it what the list there shows. */
function filterForm(
  { path, label }: { readonly path: string; readonly label: string },
  filters: readonly Filter[],
  chosen: Readonly<Record<string, string | number | undefined>>,
): Html {
  const field = ({ parameter, label, choices }: Filter): Html => {
    const value = String(chosen[parameter] ?? "");
    if (choices !== undefined) {
      return html`<label>${label} <select name="${parameter}">
<option value="">${choices.unset}</option>${optionsOf(choices.words, value)}</select></label>
`;
    }
    return html`<label>${label} <input type="search" name="${parameter}" value="${value}" maxlength="${NAME_PART_CHARACTERS_MAX}" spellcheck="false"></label>
`;
  };
  return html`<form class="filters" method="get" action="${path}" aria-label="${label}" autocomplete="off">
${filters.map(field)}<button>Show</button>
</form>`;
}

/** The way to the pages before and after this one. @param query what this one was asked with */
function pager(
  path: string,
  query: Readonly<Record<string, string | number | null | undefined>>,
  given: { readonly offset: number; readonly limit: number; readonly total: number },
): Content {
  const { offset, limit, total } = given;
  if (offset === 0 && total <= limit) return null;
  const at = (from: number): string => {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      if (value) parameters.set(name, String(value));
    if (from > 0) parameters.set("offset", String(from));
    const text = parameters.toString();
    return text === "" ? path : `${path}?${text}`;
  };
  const before =
    offset === 0
      ? ""
      : html`<a class="button" rel="prev" href="${at(Math.max(0, Math.min(offset, total) - limit))}">← Before</a>`;
  const after =
    offset + limit >= total
      ? ""
      : html`<a class="button" rel="next" href="${at(offset + limit)}">After →</a>`;
  const where =
    offset < total
      ? `${offset + 1} to ${Math.min(offset + limit, total)} of ${total}`
      : `${total} in all`;
  return html`<nav class="pager" aria-label="Pages">${before}<span>${where}</span>${after}</nav>`;
}
