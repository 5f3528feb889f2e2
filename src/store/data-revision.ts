import { batcher } from "../batcher.ts";
import type { FollowedClock } from "../clock.ts";
import { runStatement, type Sql } from "./postgres.ts";

/** What the public API shows, by what can change it: `season` is seasons and what is earned in them. */
export type DataKind = "event" | "token" | "collection" | "project" | "season";

/**
 * How often each kind has changed, as one snapshot of the database saw it, and which start of
 * the server counted (see `read_revision` in migrations/). Two equal counts of one kind saw equal data.
 */
export type DataRevision = Readonly<Partial<Record<DataKind | "server", string>>>;

/** Reads what `data_revision()` says. */
export function parseRevision(text: string): DataRevision {
  return JSON.parse(text);
}

/** The part of a revision that concerns some kinds; equal while nothing of them has changed. */
export function revisionOf(revision: DataRevision, kinds: readonly DataKind[]): string {
  return [revision.server, ...kinds.map((kind) => revision[kind])].join("/");
}

/** With the read that follows it this stays below 2 s, the longest a reader waits. */
export const REVISION_WITHIN_MS = 900;
/** One statement is on its way while the other is made ready or read. */
export const REVISION_BATCHING = { keysMax: 500, callsMax: 2 };

/**
 * Reads the revision after each asking; all of one tick share a statement. The clock is compared
 * with the database's time on the way, so that no reader gets the counters of a day that is over.
 */
export function revisionReader(
  sql: Sql,
  clock: Pick<FollowedClock, "now" | "compare">,
): () => Promise<DataRevision> {
  const load = batcher(async (asked: readonly null[]): Promise<readonly DataRevision[]> => {
    const askedAt = clock.now();
    const [row] = await runStatement(
      sql<[{ revision: string; now: number }]>`
        select data_revision() as revision, now_ms() as now`,
      REVISION_WITHIN_MS,
    );
    await clock.compare(row.now, askedAt);
    const revision = parseRevision(row.revision);
    return asked.map(() => revision);
  }, REVISION_BATCHING);
  return () => load(null);
}
