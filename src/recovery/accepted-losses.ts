import { exceptionLines } from "../audit/known-messages.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { type Notes, PIECE_WITHIN_MS, type Recovery } from "./recovery.ts";

/** A message whose star stays lost. */
export interface AcceptedLoss {
  readonly topic_id: string;
  readonly sequence_number: number;
  /** When an operator went on without the star, epoch milliseconds. */
  readonly accepted_at: number;
}

/**
 * Removes messages whose loss an operator accepted earlier from what is brought back: later stars
 * were counted without theirs. Only an export says so, so each is reported as a doubt.
 */
export async function excludeAcceptedLosses(
  { sql, exports }: Pick<Recovery, "sql" | "exports">,
  notes: Notes,
): Promise<readonly AcceptedLoss[]> {
  if (exports === null) return [];
  const left: AcceptedLoss[] = [];
  for (const day of exports.days) {
    const exceptions = await exceptionLines(exports.source, day);
    const lost = exceptions.flatMap((line) =>
      line.kind === "lost"
        ? {
            topic_id: line.topicId,
            sequence_number: line.sequenceNumber,
            accepted_at: Date.parse(line.acceptedAt),
          }
        : [],
    );
    if (lost.length === 0) continue;
    const taken = await runStatement(
      sql<AcceptedLoss[]>`
        delete from recovery_message said
        using json_to_recordset(${JSON.stringify(lost)}::text::json)
          as line (topic_id text, sequence_number bigint, accepted_at bigint)
        where (said.topic_id, said.sequence_number) = (line.topic_id, line.sequence_number)
        returning line.topic_id, line.sequence_number, line.accepted_at`,
      PIECE_WITHIN_MS,
    );
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
  await runStatement(
    sql`
      insert into publishing_finding (kind, topic_id, sequence_number, detail, noticed_at, resolved_at)
      select 'lost', topic_id, sequence_number, 'its loss was accepted before', accepted_at,
        outside_final_days(accepted_at)
      from json_to_recordset(${JSON.stringify(losses)}::text::json)
        as line (topic_id text, sequence_number bigint, accepted_at bigint)
      on conflict (topic_id, sequence_number, kind) where topic_id is not null
      do update set resolved_at = excluded.resolved_at where publishing_finding.resolved_at is null`,
    PIECE_WITHIN_MS,
  );
}
