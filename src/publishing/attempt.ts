/** An open transaction id of a star, and what is known of its fate. */
export interface Attempt {
  readonly starId: string;
  /** From 1, per star. */
  readonly number: number;
  readonly topicId: string;
  /** `0.0.n@s.nnnnnnnnn` */
  readonly transactionId: string;
  /** Nanoseconds since the epoch, by the ledger's time. */
  readonly validStart: bigint;
  /** The only bytes that may be sent, and when they stop being valid (as `validStart`). */
  readonly signed: { readonly bytes: Uint8Array; readonly validUntil: bigint } | null;
  /** Counted before each sending; `refusals` after each that certainly had no effect. */
  readonly sends: number;
  readonly refusals: number;
  readonly receipt: Receipt | null;
  /** Rounds in which a quiet topic was found without the message. */
  readonly absenceRounds: number;
}

/** What the consensus nodes said of a transaction. */
interface Receipt {
  readonly status: string;
  readonly sequenceNumber: number | null;
}
