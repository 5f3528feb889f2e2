import { topCollections } from "../../reads/markets.ts";
import { html } from "../console/markup.ts";
import { itemList } from "./items.ts";
import { collectionItem, marketTabs } from "./market-items.ts";
import type { Page } from "./page.ts";
import type { Reading } from "./reading.ts";

/** A ranking is read from its top. */
const SHOWN_MAX = 100;

/** `/collections`: the markets list's NFTs tab, by today's stars. */
export function collectionsPage({ sql, share }: Reading): Page {
  return {
    path: "/collections",
    nav: "NFTs",
    async show({ now, visitor }) {
      const rows = await share("collections", () => topCollections(sql, { limit: SHOWN_MAX, now }));
      return {
        title: "NFT collections",
        body: html`<h1>Markets</h1>
${marketTabs("/collections")}
${itemList(rows.map(collectionItem), { visitor, now }, { empty: "No NFT collection is listed yet." })}`,
      };
    },
  };
}
