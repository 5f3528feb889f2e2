import { listCollections } from "../../reads/markets.ts";
import { collectionItem } from "./market-items.ts";
import { marketPage } from "./market-list.ts";
import type { Page } from "./page.ts";
import type { Reading } from "./reading.ts";

/** `/collections`: the markets list's NFTs tab, by today's stars. */
export function collectionsPage(reading: Reading): Page {
  const words = { nav: "NFTs", title: "NFT collections", one: "NFT collection" };
  const path = "/collections";
  return marketPage({ path, ...words, list: listCollections, item: collectionItem }, reading);
}
