import { isEntityId } from "../../ledger/entity-id.ts";
import { readToken } from "../../reads/directory-items.ts";
import { onExplorer } from "../console/links.ts";
import { facts, html, section } from "../console/markup.ts";
import { itemHead } from "./items.ts";
import { tokenItem, windowFacts } from "./market-items.ts";
import type { Page } from "./page.ts";
import { found, type Reading } from "./reading.ts";
import { dollars, name } from "./text.ts";

/** `/tokens/{id}` */
export function tokenPage({ sql, share, explorerUrl }: Reading): Page {
  return {
    path: "/tokens/:id",
    async show({ id, now, visitor }) {
      const row = isEntityId(id)
        ? await share(`token ${id}`, () => readToken(sql, { id, now }))
        : undefined;
      const token = found(row, "token");
      return {
        title: token.name,
        body: html`${itemHead(tokenItem(token), { visitor, now })}
${section(
  "Details",
  facts([
    ["Symbol", name(token.symbol)],
    ["Ledger id", onExplorer(explorerUrl, `token/${id}`, id)],
    ["Price", token.price === null ? "not known" : dollars(token.price)],
    ["Market cap", token.marketCap === null ? "not known" : dollars(token.marketCap)],
    ...windowFacts(token),
  ]),
)}`,
      };
    },
  };
}
