import { type EventDayKey, type EventTables, emptyTables } from "../../actors/whole.ts";
import { foldEventDay } from "../journal/event-history.ts";
import { foldMint } from "../journal/fold-mint.ts";
import { type MintHappening, readMintHistory } from "../journal/mint-history.ts";
import type { Sql } from "../store/postgres.ts";

/** An event's day as it stood after its first `steps` stars. */
export async function eventDayAfter(
  sql: Sql,
  key: EventDayKey,
  steps: number,
): Promise<EventTables> {
  return steps === 0 ? emptyTables() : (await foldEventDay(sql, key, steps)).tables;
}

/** A forever mint as it stood after the first `steps` of its stars and releases. */
export async function foreverMintAfter(
  sql: Sql,
  mint: string,
  steps: number,
): Promise<EventTables> {
  const tables = emptyTables();
  await foldMint(mint, tables, first(readMintHistory(sql, mint), steps));
  return tables;
}

async function* first(
  pages: AsyncIterable<readonly MintHappening[]>,
  steps: number,
): AsyncGenerator<readonly MintHappening[]> {
  let left = steps;
  for await (const page of pages) {
    if (left <= 0) return;
    yield page.slice(0, left);
    left -= page.length;
  }
}
