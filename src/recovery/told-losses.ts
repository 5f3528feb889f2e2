import { linesApart } from "../audit/known-messages.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { type Notes, PIECE_WITHIN_MS, type Recovery } from "./recovery.ts";

/** A message whose star stays lost. */
export interface ToldLoss {
  readonly topic_id: string;
  readonly sequence_number: number;
  /** When an operator went on without the star, epoch milliseconds. */
  readonly accepted_at: number;
}

/**
 * Takes those messages out of what is brought back whose loss an operator accepted earlier: stars
 * that came later counted without theirs. The word of an export is all there is for it, so each is
 * a doubt.
 */
export async function leaveToldLosses(
  { sql, exports }: Pick<Recovery, "sql" | "exports">,
  notes: Notes,
): Promise<readonly ToldLoss[]> {
  if (exports === null) return [];
  const left: ToldLoss[] = [];
  for (const day of exports.days) {
    const apart = await linesApart(exports.source, day);
    const told = apart.flatMap((line) =>
      line.kind === "lost"
        ? {
            topic_id: line.topicId,
            sequence_number: line.sequenceNumber,
            accepted_at: Date.parse(line.acceptedAt),
          }
        : [],
    );
    if (told.length === 0) continue;
    const taken = await runStatement(
      sql<ToldLoss[]>`
        delete from recovery_message said
        using json_to_recordset(${JSON.stringify(told)}::text::json)
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

/** Writes accepted losses down, as they were accepted then. */
export async function keepToldLosses(sql: Sql, losses: readonly ToldLoss[]): Promise<void> {
  await runStatement(
    sql`
      insert into publishing_finding (kind, topic_id, sequence_number, detail, noticed_at, resolved_at)
      select 'lost', topic_id, sequence_number, 'its loss was accepted before', accepted_at, accepted_at
      from json_to_recordset(${JSON.stringify(losses)}::text::json)
        as line (topic_id text, sequence_number bigint, accepted_at bigint)
      on conflict (topic_id, sequence_number, kind) where topic_id is not null
      do update set resolved_at = excluded.resolved_at where publishing_finding.resolved_at is null`,
    PIECE_WITHIN_MS,
  );
}
