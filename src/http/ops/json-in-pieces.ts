import { yieldToEventLoop } from "../../yield-to-event-loop.ts";

/** Entries of one piece: some 5 ms. */
const PIECE = 10_000;

/**
 * The JSON of plain data in which objects may have very many entries, as `JSON.stringify` writes
 * it. That would keep the process from voters for as long as it takes, 80 ms for a mint of 100,000
 * wallets; this lets them in between.
 *
 * @param value objects, arrays, texts, numbers, booleans, null; an object of more than 10,000
 *   entries has small values
 */
export async function jsonInPieces(value: unknown): Promise<string> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return JSON.stringify(value);
  }
  const entries = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(entries);
  const pieces: string[] = [];
  const isLarge = keys.length > PIECE;
  for (let from = 0; from < keys.length; from += PIECE) {
    if (isLarge) await yieldToEventLoop();
    for (const key of keys.slice(from, from + PIECE)) {
      const entry = entries[key];
      if (entry === undefined) continue;
      const json = isLarge ? JSON.stringify(entry) : await jsonInPieces(entry);
      pieces.push(`${JSON.stringify(key)}:${json}`);
    }
  }
  return `{${pieces.join()}}`;
}
