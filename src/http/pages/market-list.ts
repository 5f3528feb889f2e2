import { z } from "zod";
import type { RankingPage, RankingQuery } from "../../reads/markets.ts";
import type { Sql } from "../../store/postgres.ts";
import { html } from "../console/markup.ts";
import { limit, namePart, offset } from "../v1/parameters.ts";
import { filterForm, pager } from "./filters.ts";
import { type Item, itemList } from "./items.ts";
import { marketTabs } from "./market-items.ts";
import type { Page } from "./page.ts";
import { type Reading, readFilters } from "./reading.ts";

/** What differs between the markets list's two tabs. */
interface Market<R> {
  readonly path: "/tokens" | "/collections";
  /** Its word in the navigation. */
  readonly nav: string;
  readonly title: string;
  /** What one of them is called. */
  readonly one: string;
  readonly list: (sql: Sql, query: RankingQuery) => Promise<RankingPage<R>>;
  readonly item: (row: R) => Item;
}

const shape = z.strictObject({ q: namePart(), limit: limit(50), offset: offset() });

/** A tab of the markets list: all items by today's stars, page by page, or those with a name. */
export function marketPage<R>(market: Market<R>, { sql, share }: Reading): Page {
  const { path, nav, title, one, list, item } = market;
  return {
    path,
    nav,
    async show({ query, now, visitor }) {
      const given = readFilters(shape, query);
      const q = given.q?.trim() || undefined;
      const asked = { ...given, q };
      const { rows, total } = await share(`${path} ${JSON.stringify(asked)}`, () =>
        list(sql, { ...asked, now }),
      );
      const search = { parameter: "q", label: "Name", written: q };
      const empty = q === undefined ? `No ${one} is listed yet.` : `No ${one} has such a name.`;
      return {
        title,
        body: html`<h1>Markets</h1>
${marketTabs(path)}
${filterForm(path, `Which ${one}s`, [search])}
${itemList(rows.map(item), { visitor, now }, { empty })}
${pager(path, { q, limit: query.get("limit") ?? undefined }, { ...given, total })}`,
      };
    },
  };
}
