import { listTokens } from "../../reads/markets.ts";
import { tokenItem } from "./market-items.ts";
import { marketPage } from "./market-list.ts";
import type { Page } from "./page.ts";
import type { Reading } from "./reading.ts";

/** `/tokens`: the markets list's first tab, by today's stars. */
export function tokensPage(reading: Reading): Page {
  const words = { path: "/tokens", nav: "Tokens", title: "Tokens", one: "token" } as const;
  return marketPage({ ...words, list: listTokens, item: tokenItem }, reading);
}
