import type { Day } from "../../actors/day.ts";
import { exceptionLines } from "../audit/known-messages.ts";
import type { ExportConflict, ExportLost } from "../journal/export-format.ts";
import { dayOfStarId } from "../journal/star-id.ts";
import { runLong, type Sql } from "../store/postgres.ts";
import type { Notes, Recovery } from "./recovery.ts";
import { findStars } from "./staged-stars.ts";

/** A message whose star stays lost. */
export interface AcceptedLoss {
  readonly topic_id: string;
  readonly sequence_number: number;
  /** When an operator went on without the star, epoch milliseconds. */
  readonly accepted_at: number;
}

/**
 * Removes messages whose loss an operator accepted earlier from what is brought back: later stars
 * were counted without theirs. Where an export alone says so, each is reported as a doubt.
 */
export async function excludeAcceptedLosses(
  { sql, exports }: Pick<Recovery, "sql" | "exports">,
  notes: Notes,
): Promise<readonly AcceptedLoss[]> {
  // The finding of a star that came back is resolved as well, for each message that it has.
  await runLong(sql`
    delete from recovery_message said using publishing_finding finding
    where finding.kind = 'lost' and finding.resolved_at is not null
      and (finding.topic_id, finding.sequence_number) = (said.topic_id, said.sequence_number)
      and not exists (select from outbox where outbox.star_id = said.star_id)`);
  const left: AcceptedLoss[] = [];
  for await (const { day, lines } of exceptionsOf<ExportLost>(exports, "lost")) {
    const lost = lines.map((line) => ({
      topic_id: line.topicId,
      sequence_number: line.sequenceNumber,
      accepted_at: Date.parse(line.acceptedAt),
    }));
    const taken = await runLong(sql<AcceptedLoss[]>`
        delete from recovery_message said
        using json_to_recordset(${JSON.stringify(lost)}::text::json)
          as line (topic_id text, sequence_number bigint, accepted_at bigint)
        where (said.topic_id, said.sequence_number) = (line.topic_id, line.sequence_number)
        returning line.topic_id, line.sequence_number, line.accepted_at`);
    for (const { topic_id: topic, sequence_number: place } of taken) {
      notes.doubt(
        `export of ${day}: message ${place} on ${topic} stays without its star, whose loss was accepted`,
      );
    }
    left.push(...taken);
  }
  return left;
}

/**
 * Stores accepted losses with the instant at which each was accepted; where that day is final without
 * them, they stand in the first one that is not.
 */
export async function storeAcceptedLosses(
  sql: Sql,
  losses: readonly AcceptedLoss[],
): Promise<void> {
  await runLong(sql`
      insert into publishing_finding (kind, topic_id, sequence_number, detail, noticed_at, resolved_at)
      select 'lost', topic_id, sequence_number, 'its loss was accepted before', accepted_at,
        outside_final_days(accepted_at)
      from json_to_recordset(${JSON.stringify(losses)}::text::json)
        as line (topic_id text, sequence_number bigint, accepted_at bigint)
      on conflict (topic_id, sequence_number, kind) where topic_id is not null
      do update set resolved_at = excluded.resolved_at where publishing_finding.resolved_at is null`);
}

/**
 * Marks the messages that exports name as conflicts of an earlier loss. Most conflicts rest on what
 * the journal lacked then, so messages alone do not show them. A conflict whose first star is
 * unknown, or breaks no rule with it, is a doubt.
 */
export async function markExportedConflicts(
  { sql, exports }: Pick<Recovery, "sql" | "exports">,
  notes: Notes,
): Promise<void> {
  for await (const { day, lines: conflicts } of exceptionsOf<ExportConflict>(exports, "conflict")) {
    const ids = conflicts.map(({ id }) => id);
    const { staged, known } = await findStars(sql, ids);
    const exported = conflicts.filter(({ id, message }) => staged.get(id)?.message === message);
    const rows = exported.map(({ id, conflictsWith }) => {
      return { id, conflicts_with: conflictsWith, first_day: dayOfStarId(conflictsWith) };
    });
    // The first star is known, and of the same wallet's day or of the same event.
    const marked = await runLong(sql<{ id: string }[]>`
      update recovery_message said set conflicts_with = line.conflicts_with
      from json_to_recordset(${JSON.stringify(rows)}::text::json)
        as line (id uuid, conflicts_with uuid, first_day date)
      where said.star_id = line.id and exists (
        select from (
          select wallet, day, target_type, target_id from recovery_message
          where star_id = line.conflicts_with
          union all
          select wallet, day, target_type, target_id from star
          where star.day = line.first_day and star.id = line.conflicts_with
        ) as first
        where line.conflicts_with <> line.id
          and ((first.wallet, first.day) = (said.wallet, said.day)
            or (first.target_type, first.target_id, 'event')
              = (said.target_type, said.target_id, said.target_type)))
      returning said.star_id as id`);
    const shown = new Set([...marked.map(({ id }) => id), ...known]);
    for (const { id, conflictsWith } of conflicts) {
      if (!staged.has(id) && !known.has(id)) {
        notes.ignore(`export of ${day}: star ${id} has no such message`);
      } else if (!shown.has(id)) {
        notes.doubt(
          `export of ${day}: nothing shows that star ${id} conflicts with ${conflictsWith}`,
        );
      }
    }
  }
}

/** The lines of one kind, by the days that have some. */
async function* exceptionsOf<Line extends ExportConflict | ExportLost>(
  exports: Recovery["exports"],
  kind: Line["kind"],
): AsyncGenerator<{ readonly day: Day; readonly lines: readonly Line[] }> {
  if (exports === null) return;
  for (const day of exports.days) {
    const exceptions = await exceptionLines(exports.source, day);
    const lines = exceptions.filter((line): line is Line => line.kind === kind);
    if (lines.length > 0) yield { day, lines };
  }
}
