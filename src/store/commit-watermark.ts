import { setTimeout as delay } from "node:timers/promises";
import { runStatement, type Sql } from "./postgres.ts";

/** Numbers of the journal: of a star, and of a release on a forever mint. */
export interface JournalPosition {
  readonly star: number;
  readonly release: number;
}

/** How far the journal is. */
export interface CommitWatermark {
  /** Everything up to here is visible, or will never be. Only grows, unless the journal goes back. */
  readonly settled: JournalPosition;
  /** The last numbers drawn; those after `settled` may still be on their way. */
  readonly drawn: JournalPosition;
  /**
   * Names the journal: another one after a failover or a restore, and while it is known to lack stars.
   * A standby that took over may go on at higher numbers than the stars that it lacks.
   */
  readonly journal: string;
}

export type LookAtJournal = () => Promise<CommitWatermark>;

/** Whether one position is after another in stars or in releases. */
export function isBeyond(one: JournalPosition, other: JournalPosition): boolean {
  return one.star > other.star || one.release > other.release;
}

interface HeadRow {
  readonly star_seq: number;
  readonly release_seq: number;
  /** Transactions that write stars or totals just now. */
  readonly writers: readonly string[];
  readonly journal: string;
}

/**
 * Finds how far the journal can be read by number without missing what commits late (see
 * `journal_head` in migrations/). A number is settled once every transaction has ended that was
 * writing when it was the last one drawn; under load that is one call later, a few milliseconds.
 *
 * @returns a function that looks once; it throws RetryableError `UNAVAILABLE` when Postgres is
 *   out of reach
 */
export function followCommitWatermark(sql: Sql): LookAtJournal {
  let settled: JournalPosition = { star: 0, release: 0 };
  let awaited:
    | { readonly position: JournalPosition; readonly writers: readonly string[] }
    | undefined;
  return async () => {
    const [row] = await runStatement(sql<[HeadRow]>`
      select head.*, left(encode(sha256(concat_ws('/',
        case when pg_is_in_recovery() then 'standby' else database_identity() end,
        exists (select from publishing_finding where kind = 'lost' and resolved_at is null),
        (select count(*) from recovered_day))::bytea), 'hex'), 8) as journal
      from journal_head() as head`);
    const drawn = { star: row.star_seq, release: row.release_seq };
    const writing = new Set(row.writers);
    // The journal went back (an older copy, a standby that lagged), and draws these numbers again.
    if (isBeyond(awaited?.position ?? settled, drawn)) {
      settled = { star: 0, release: 0 };
      awaited = undefined;
    }
    if (awaited !== undefined && !awaited.writers.some((writer) => writing.has(writer))) {
      settled = awaited.position;
      awaited = undefined;
    }
    if (writing.size === 0) {
      settled = drawn;
      awaited = undefined;
    } else awaited ??= { position: drawn, writers: row.writers };
    return { settled, drawn, journal: row.journal };
  };
}

const LOOK_AGAIN_MS = 5;

/**
 * Waits until everything that was being written when this was called has come to its end: it is
 * visible, or will never be. A writer is gone within milliseconds, but its commit may hang on a
 * slow disk, where no statement's deadline reaches it.
 *
 * @param withinMs how long to wait, in milliseconds
 * @returns a look whose `settled` holds all of it; null when time is up
 */
export async function settleJournal(
  look: LookAtJournal,
  withinMs: number,
): Promise<CommitWatermark | null> {
  const startedAt = performance.now();
  let seen = await look();
  const { drawn } = seen;
  while (isBeyond(drawn, seen.settled)) {
    if (performance.now() - startedAt > withinMs) return null;
    await delay(LOOK_AGAIN_MS);
    seen = await look();
  }
  return seen;
}
