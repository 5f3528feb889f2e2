import type { Sql } from "./postgres.ts";

/** How the steps of `outbox.state` are shown outside (contract, section 3). */
const PUBLICATION_STATES = {
  pending: "stored",
  reserved: "stored",
  signed: "stored",
  sent: "submitted",
  published: "published",
} as const;

type OutboxState = keyof typeof PUBLICATION_STATES;

/** Where a star's message stands on its way to the ledger; null until known. */
export interface Publication {
  readonly state: (typeof PUBLICATION_STATES)[OutboxState];
  readonly topicId: string | null;
  /** `0.0.n@seconds.nnnnnnnnn` */
  readonly transactionId: string | null;
  readonly sequenceNumber: number | null;
  /** `seconds.nnnnnnnnn`, as the mirror node gives it. */
  readonly consensusTimestamp: string | null;
  /** Base64, as the mirror node gives it. */
  readonly runningHash: string | null;
}

/** What of an outbox row says where a message is. */
export interface PublicationRow {
  readonly state: OutboxState;
  readonly topic_id: string | null;
  readonly transaction_id: string | null;
  readonly sequence_number: number | null;
  readonly consensus_timestamp: string | null;
  readonly running_hash: string | null;
}

/** The columns of `outbox` that make a `PublicationRow`; a part of a select. */
export function publicationColumns(sql: Sql) {
  return sql`state, topic_id, transaction_id, sequence_number, consensus_timestamp, running_hash`;
}

export function publicationOf(row: PublicationRow): Publication {
  return {
    state: PUBLICATION_STATES[row.state],
    topicId: row.topic_id,
    transactionId: row.transaction_id,
    sequenceNumber: row.sequence_number,
    consensusTimestamp: row.consensus_timestamp,
    runningHash: row.running_hash,
  };
}
