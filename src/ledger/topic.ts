import type { MirrorKey } from "./public-key.ts";

/**
 * What publishing needs of the consensus nodes. Nothing here retries: what an answer means
 * depends on what was stored before, so only the caller can know what to do next.
 */
export interface Topic {
  /** Account that pays, `0.0.n`. */
  readonly payer: string;
  /** Its public key, as a mirror node would show it. */
  readonly publicKey: NonNullable<MirrorKey>;
  /**
   * Signs a message without any network.
   *
   * @throws RangeError when the message is empty or longer than one chunk
   */
  prepareMessage(message: TopicMessage): Promise<PreparedTransaction>;
  /** Hands signed bytes to one node, once. Never rejects. */
  send(signedBytes: Uint8Array): Promise<SendOutcome>;
  /** Asks one node, once, for the receipt of `0.0.n@s.nnnnnnnnn`. Never rejects. */
  receipt(transactionId: string): Promise<ReceiptOutcome>;
  /** Signs the creation of a topic that only the payer may write to and that cannot be changed. */
  prepareTopic(topic: Pick<TopicMessage, "memo" | "validStart">): Promise<PreparedTransaction>;
  close(): void;
}

export interface TopicMessage {
  readonly topicId: string;
  readonly message: string;
  /** At most 100 bytes, for everyone to read. */
  readonly memo: string;
  /** Nanoseconds since the epoch; with the payer it is the transaction's id. */
  readonly validStart: bigint;
}

/** The only bytes that may ever be sent under this id. */
export interface PreparedTransaction {
  /** `0.0.n@s.nnnnnnnnn` */
  readonly transactionId: string;
  /** One signed transaction per node that may be asked. */
  readonly signedBytes: Uint8Array;
  /** It reaches consensus by then or never; nanoseconds since the epoch. */
  readonly validUntil: bigint;
}

/**
 * Why a node did not take a transaction, by what follows from it.
 * - `duplicate`: this id was handed in before, here or elsewhere; by whom, one has to ask
 * - `early`, `expired`: the id is dated ahead of the ledger's time, or too far behind it
 * - `busy`: the same bytes may pass later
 * - `configuration`: they will not pass before an operator changes something
 */
export type Refusal = "duplicate" | "early" | "expired" | "busy" | "configuration";

export type SendOutcome =
  /** A node passed it on; the receipt says whether it reaches consensus. */
  | { readonly kind: "accepted" }
  /** This node did not pass it on, this time (but see `duplicate`). */
  | { readonly kind: "refused"; readonly status: string; readonly refusal: Refusal }
  /** It is signed for none of this network's nodes, so this call sent nothing. */
  | { readonly kind: "unsendable"; readonly why: string }
  /** Any of the above may have happened. */
  | { readonly kind: "unknown"; readonly why: string };

export type ReceiptOutcome =
  | {
      readonly kind: "success";
      /** Of the message; null when the transaction under this id was none. */
      readonly sequenceNumber: number | null;
      /** The topic's after the message; base64, as the mirror node gives it. */
      readonly runningHash: string | null;
      /** The topic it made; null when it made none. */
      readonly topicId: string | null;
    }
  /** It reached consensus and had no effect. */
  | { readonly kind: "failed"; readonly status: string; readonly refusal: Refusal }
  /** No receipt yet, or none any more, or only that of a copy, or no answer. */
  | { readonly kind: "unknown" };

const REFUSALS: Readonly<Record<string, Refusal>> = {
  DUPLICATE_TRANSACTION: "duplicate",
  INVALID_TRANSACTION_START: "early",
  TRANSACTION_EXPIRED: "expired",
  BUSY: "busy",
  THROTTLED_AT_CONSENSUS: "busy",
  PLATFORM_NOT_ACTIVE: "busy",
  PLATFORM_TRANSACTION_NOT_CREATED: "busy",
  // One node that was given another account id; the network's list of nodes catches up.
  INVALID_NODE_ACCOUNT: "busy",
  CREATING_SYSTEM_ENTITIES: "busy",
  WAITING_FOR_LEDGER_ID: "busy",
};

/**
 * What follows from a status that is neither OK nor SUCCESS. One that we do not know needs
 * an operator to look at it, so it counts as `configuration`: nothing is lost by waiting.
 */
export function refusalOf(status: string): Refusal {
  return REFUSALS[status] ?? "configuration";
}
