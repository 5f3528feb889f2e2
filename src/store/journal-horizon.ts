import { inTime, type Sql } from "./postgres.ts";

/** Numbers of the journal: of a star, and of a release on a forever mint. */
export interface JournalPlace {
  readonly star: number;
  readonly release: number;
}

/** How far the journal is. */
export interface JournalHorizon {
  /** Everything up to here is visible, or will never be. Only grows. */
  readonly settled: JournalPlace;
  /** The last numbers drawn; those after `settled` may still be on their way. */
  readonly drawn: JournalPlace;
}

interface HeadRow {
  readonly star_seq: number;
  readonly release_seq: number;
  /** Transactions that write stars or totals just now. */
  readonly writers: readonly string[];
}

/**
 * Tells how far the journal can be read by number without missing what commits late (see
 * `migrations/012`). A number counts as settled once nobody is left of those who were writing
 * when it was the last one drawn; under load that is one call later, a few milliseconds.
 *
 * @returns a function that looks once; it throws RetryableError `UNAVAILABLE` when Postgres is
 *   out of reach
 */
export function followJournal(sql: Sql): () => Promise<JournalHorizon> {
  let settled: JournalPlace = { star: 0, release: 0 };
  let awaited: { readonly place: JournalPlace; readonly writers: readonly string[] } | undefined;
  return async () => {
    const [row] = await inTime(sql<HeadRow[]>`select * from journal_head()`);
    if (row === undefined) throw new Error("journal_head told nothing");
    const drawn = { star: row.star_seq, release: row.release_seq };
    const writing = new Set(row.writers);
    if (awaited !== undefined && !awaited.writers.some((writer) => writing.has(writer))) {
      settled = awaited.place;
      awaited = undefined;
    }
    if (writing.size === 0) {
      settled = drawn;
      awaited = undefined;
    } else awaited ??= { place: drawn, writers: row.writers };
    return { settled, drawn };
  };
}
