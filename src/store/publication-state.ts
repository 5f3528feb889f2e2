import type { Sql } from "./postgres.ts";

/** Where a star's message stands on its way to the ledger; null until known. */
export interface Publication {
  readonly state: "stored" | "submitted" | "published";
  readonly topicId: string | null;
  /** `0.0.n@seconds.nnnnnnnnn` */
  readonly transactionId: string | null;
  readonly sequenceNumber: number | null;
  /** `seconds.nnnnnnnnn`, as the mirror node gives it. */
  readonly consensusTimestamp: string | null;
  /** Base64, as the mirror node gives it. */
  readonly runningHash: string | null;
}

/** The `publication` of a row of `outbox`, with the states that are shown outside (contract, section 3). */
export function publicationColumn(sql: Sql) {
  return sql`json_build_object(
    'state', case state when 'published' then 'published' when 'sent' then 'submitted' else 'stored' end,
    'topicId', topic_id, 'transactionId', transaction_id, 'sequenceNumber', sequence_number,
    'consensusTimestamp', consensus_timestamp, 'runningHash', running_hash) as publication`;
}
