import { topTokens } from "../../reads/markets.ts";
import { html } from "../console/markup.ts";
import { itemList } from "./items.ts";
import { marketTabs, tokenItem } from "./market-items.ts";
import type { Page } from "./page.ts";
import type { Reading } from "./reading.ts";

/** A ranking is read from its top. */
const SHOWN_MAX = 100;

/** `/tokens`: the markets list's first tab, by today's stars. */
export function tokensPage({ sql, share }: Reading): Page {
  return {
    path: "/tokens",
    nav: "Tokens",
    async show({ now, visitor }) {
      const rows = await share("tokens", () => topTokens(sql, { limit: SHOWN_MAX, now }));
      return {
        title: "Tokens",
        body: html`<h1>Markets</h1>
${marketTabs("/tokens")}
${itemList(rows.map(tokenItem), { visitor, now }, { empty: "No token is listed yet." })}`,
      };
    },
  };
}
