import { isEntityId } from "../../ledger/entity-id.ts";
import { readCollection } from "../../reads/directory-items.ts";
import { onExplorer } from "../console/links.ts";
import { facts, html, number, section } from "../console/markup.ts";
import { itemHead } from "./items.ts";
import { collectionItem, windowFacts } from "./market-items.ts";
import type { Page } from "./page.ts";
import { found, type Reading } from "./reading.ts";

/** `/collections/{id}` */
export function collectionPage({ sql, share, explorerUrl }: Reading): Page {
  return {
    path: "/collections/:id",
    async show({ id, now, visitor }) {
      const row = isEntityId(id)
        ? await share(`collection ${id}`, () => readCollection(sql, { id, now }))
        : undefined;
      const collection = found(row, "NFT collection");
      const { owners, supply } = collection;
      return {
        title: collection.name,
        body: html`${itemHead(collectionItem(collection), { visitor, now })}
${section(
  "Details",
  facts([
    ["Ledger id", onExplorer(explorerUrl, `token/${id}`, id)],
    ["Owners", owners === null ? "not known" : number(owners)],
    ["NFTs", supply === null ? "not known" : number(supply)],
    ...windowFacts(collection),
  ]),
)}`,
      };
    },
  };
}
