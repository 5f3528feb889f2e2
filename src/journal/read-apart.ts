import { type Day, instant } from "../../actors/day.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { type PublicationRow, publicationOf } from "../store/publication-state.ts";
import type { ExportConflict, ExportLost } from "./export-format.ts";
import { walletOf } from "./star-record.ts";

/** Lines of one read. */
const PAGE = 500;
const PAGE_WITHIN_MS = 10_000;

interface ConflictRow extends PublicationRow {
  readonly id: string;
  readonly wallet: number;
  readonly at: number;
  readonly target_type: ExportConflict["target"]["type"];
  readonly target_id: string;
  readonly conflicts_with: string;
  readonly topic: "event" | "asset";
  readonly message: string;
}

/**
 * The stars of a day that break a rule beside stars which came back, by their ids, page by page.
 *
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export async function* conflictsOfDay(
  sql: Sql,
  day: Day,
): AsyncGenerator<readonly ExportConflict[]> {
  let after = "00000000-0000-0000-0000-000000000000";
  for (;;) {
    const rows = await runStatement(
      sql<ConflictRow[]>`
        select id, wallet, at, target_type, target_id, conflicts_with, topic, message, state, topic_id,
          transaction_id, sequence_number, consensus_timestamp, running_hash
        from star_conflict join outbox on star_id = id
        where day = ${day} and id > ${after}::uuid order by id limit ${PAGE}`,
      PAGE_WITHIN_MS,
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(exportedConflict);
    after = last.id;
  }
}

function exportedConflict(row: ConflictRow): ExportConflict {
  return {
    kind: "conflict",
    id: row.id,
    wallet: walletOf(row.wallet),
    at: instant(row.at),
    target: { type: row.target_type, id: row.target_id },
    conflictsWith: row.conflicts_with,
    topic: row.topic,
    message: row.message,
    publication: publicationOf(row),
  };
}

/** Messages whose loss was accepted on a day, and whose stars have not come back; page by page. */
export async function* lossesOfDay(sql: Sql, day: Day): AsyncGenerator<readonly ExportLost[]> {
  let after = { topicId: "", sequenceNumber: 0 };
  for (;;) {
    const rows = await runStatement(
      sql<{ topicId: string; sequenceNumber: number; at: number }[]>`
        select topic_id as "topicId", sequence_number as "sequenceNumber", resolved_at as at
        from publishing_finding finding
        where kind = 'lost' and resolved_at is not null and utc_day(resolved_at) = ${day}
          and not exists (select from outbox where outbox.topic_id = finding.topic_id
            and outbox.sequence_number = finding.sequence_number and state = 'published')
          and (topic_id, sequence_number) > (${after.topicId}, ${after.sequenceNumber})
        order by topic_id, sequence_number limit ${PAGE}`,
      PAGE_WITHIN_MS,
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(({ topicId, sequenceNumber, at }) => {
      return { kind: "lost", topicId, sequenceNumber, acceptedAt: instant(at) };
    });
    after = last;
  }
}
