import type { CollectionRow, TokenRow } from "../../reads/markets.ts";
import { type Content, type Fact, html, number } from "../console/markup.ts";
import type { Item } from "./items.ts";
import { dollars, name } from "./text.ts";
import { counted } from "./words.ts";

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

/** What its stars of late weigh. */
export function windowFacts(item: {
  readonly totalVotes: number;
  readonly votes7d: number;
  readonly votes30d: number;
}): readonly Fact[] {
  return [
    ["Weight in 7 days", number(item.votes7d)],
    ["Weight in 30 days", number(item.votes30d)],
  ];
}
