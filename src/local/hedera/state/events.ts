import type { ResponseCode } from "../refusal.ts";
import type { Nanos } from "../timestamps.ts";

/**
 * Everything that can happen on the ledger, in consensus order: the ledger's file is a list
 * of these, and its state is what they add up to. Numbers of entities, serials and sequence
 * numbers stay below 2^53 here; instants and tinybars do not. Keys and EVM addresses are
 * hex, all other bytes base64.
 */
export type LedgerEvent =
  | AccountVersion
  | CollectionVersion
  | NftChange
  | TopicVersion
  | Message
  | Transaction
  | BlockEnd;

interface Dated {
  /** Consensus timestamp. */
  readonly at: Nanos;
}

/**
 * Entities come in whole versions, as the real mirror node keeps them. The first version's `at`
 * is the entity's creation.
 */
interface Version extends Dated {
  readonly num: number;
  readonly deleted: boolean;
  readonly memo: string;
}

export interface AccountVersion extends Version {
  readonly kind: "account";
  /** Protobuf `Key`; null is an account that no signature satisfies (hollow, immutable). */
  readonly key: string | null;
  readonly evmAddress: string | null;
  readonly balance: bigint | null;
  readonly balanceAt: Nanos | null;
  readonly autoRenewPeriod: number | null;
  readonly maxAssociations: number | null;
  readonly receiverSigRequired: boolean | null;
  readonly isContract?: boolean;
}

export interface CollectionVersion extends Version {
  readonly kind: "collection";
  readonly treasury: number;
  readonly name: string;
  readonly symbol: string;
}

/** A transfer as the record of a transaction lists it. */
export interface Hop {
  /** Null when minted. */
  readonly from: number | null;
  /** Null when burned or wiped. */
  readonly to: number | null;
}

/** Something changes about an NFT. The first change of a serial mints it. */
export interface NftChange extends Dated {
  readonly kind: "nft";
  readonly token: number;
  readonly serial: number;
  /** Who has it from then on; null when burned or wiped. */
  readonly holder: number | null;
  /** In order; none where the transaction lists no transfer, as for an allowance or new metadata. */
  readonly hops: readonly Hop[];
  /** Who may transfer it for its holder, until it changes hands. */
  readonly spender?: number;
  /** As it is from then on. */
  readonly metadata: string;
}

/** A fixed fee charged per message (HIP-991). */
export interface CustomFee {
  readonly amount: number;
  readonly collector: number;
  /** Null: tinybars. */
  readonly token: number | null;
}

export interface TopicVersion extends Version {
  readonly kind: "topic";
  readonly adminKey: string | null;
  readonly submitKey: string | null;
  readonly feeScheduleKey: string | null;
  readonly autoRenewAccount: number | null;
  readonly autoRenewPeriod: number;
  readonly customFees: readonly CustomFee[];
}

/** Which part of a larger message one is; clients send it even for a message of one part. */
export interface Chunk {
  readonly payer: number;
  readonly validStart: Nanos;
  readonly number: number;
  readonly total: number;
}

export interface Message extends Dated {
  readonly kind: "message";
  readonly topic: number;
  readonly sequence: number;
  readonly payer: number;
  readonly message: string;
  readonly runningHash: string;
  readonly chunk: Chunk | null;
}

export interface Transaction extends Dated {
  readonly kind: "transaction";
  readonly payer: number;
  readonly validStart: Nanos;
  /** The mirror node's name of the kind, `CONSENSUSSUBMITMESSAGE`. */
  readonly type: string;
  readonly result: ResponseCode;
  readonly entity: number | null;
  readonly node: number | null;
  /** Tinybars. */
  readonly maxFee: bigint;
  readonly chargedFee: number;
  readonly memo: string;
  readonly validDuration: number;
  readonly hash: string;
}

/** The block ends here; what is in it follows from the transactions since the last end. */
export interface BlockEnd extends Dated {
  readonly kind: "block";
}

/** Text in the file, because a JSON number is exact to 2^53 only. */
const BIG_FIELDS = ["at", "balance", "balanceAt", "validStart", "maxFee"];

/** The events of one turn as a line of the file, without its end. */
export function writeEvents(events: readonly LedgerEvent[]): string {
  return JSON.stringify(events, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
}

/** @throws SyntaxError when the line is not whole */
export function readEvents(line: string): LedgerEvent[] {
  const events = JSON.parse(line) as Record<string, unknown>[];
  for (const event of events) {
    readBigFields(event);
    if (event.chunk) readBigFields(event.chunk as Record<string, unknown>);
  }
  // The file is this ledger's own: `writeEvents` alone writes it.
  return events as unknown as LedgerEvent[];
}

/** Field by field, because a reviver makes reading three times slower. */
function readBigFields(record: Record<string, unknown>): void {
  for (const field of BIG_FIELDS) {
    const text = record[field];
    if (typeof text === "string") record[field] = BigInt(text);
  }
}
