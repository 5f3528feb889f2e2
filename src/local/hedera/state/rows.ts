import type { Nanos } from "../timestamps.ts";

/**
 * Rows as the tables hold them, named as their columns. Numbers of entities, serials and
 * sequence numbers stay below 2^53 here; instants and tinybars do not.
 */

interface Version {
  readonly valid_from: Nanos;
  readonly created_at: Nanos;
  readonly deleted: boolean;
}

export interface AccountRow extends Version {
  readonly num: number;
  /** Protobuf `Key`; null is an account nobody can sign for (hollow, immutable). */
  readonly key: Uint8Array | null;
  readonly alias: Uint8Array | null;
  readonly evm_address: Uint8Array | null;
  readonly memo: string;
  readonly balance: Nanos | null;
  readonly balance_at: Nanos | null;
  readonly auto_renew_period: number | null;
  readonly max_associations: number | null;
  readonly receiver_sig_required: boolean | null;
}

export interface TokenRow extends Version {
  readonly num: number;
  readonly treasury: number;
  readonly name: string;
  readonly symbol: string;
  readonly memo: string;
  /** 0: as many as one likes. */
  readonly max_supply: number;
}

export interface NftRow extends Version {
  readonly token: number;
  readonly serial: number;
  /** Null when burned or wiped. */
  readonly account: number | null;
  readonly metadata: Uint8Array;
}

/** A fixed fee charged per message (HIP-991). */
export interface CustomFee {
  readonly amount: number;
  readonly collector: number;
  /** Null: tinybars. */
  readonly token: number | null;
}

export interface TopicRow extends Version {
  readonly num: number;
  readonly memo: string;
  readonly admin_key: Uint8Array | null;
  readonly submit_key: Uint8Array | null;
  readonly fee_schedule_key: Uint8Array | null;
  readonly auto_renew_account: number | null;
  readonly auto_renew_period: number | null;
  readonly custom_fees: readonly CustomFee[];
}

export interface TransactionRow {
  readonly consensus_ns: Nanos;
  readonly payer: number;
  readonly valid_start: Nanos;
  readonly nonce: number;
  readonly scheduled: boolean;
  /** The mirror node's name of the kind, `CONSENSUSSUBMITMESSAGE`. */
  readonly type: string;
  /** The network's name of the outcome, `SUCCESS`. */
  readonly result: string;
  readonly entity: number | null;
  readonly node: number | null;
  readonly max_fee: bigint;
  readonly charged_fee: number;
  readonly memo: Uint8Array;
  readonly valid_duration: number;
  readonly hash: Uint8Array;
}

export interface NftTransferRow {
  readonly token: number;
  readonly serial: number;
  readonly consensus_ns: Nanos;
  /** Null when minted. */
  readonly sender: number | null;
  /** Null when burned or wiped. */
  readonly receiver: number | null;
}

export interface TopicMessageRow {
  readonly topic: number;
  readonly sequence: number;
  readonly consensus_ns: Nanos;
  readonly payer: number;
  readonly message: Uint8Array;
  readonly running_hash: Uint8Array;
  readonly running_hash_version: number;
  readonly chunk_payer: number | null;
  readonly chunk_valid_start: Nanos | null;
  readonly chunk_nonce: number | null;
  readonly chunk_scheduled: boolean | null;
  readonly chunk_number: number | null;
  readonly chunk_total: number | null;
}

export interface BlockRow {
  readonly number: number;
  readonly from_ns: Nanos;
  readonly to_ns: Nanos;
  readonly transactions: number;
  readonly hash: Uint8Array;
  readonly previous_hash: Uint8Array;
}

/** What one batch adds, table by table. */
export interface Rows {
  readonly account: AccountRow[];
  readonly token: TokenRow[];
  readonly nft: NftRow[];
  readonly topic: TopicRow[];
  readonly transaction: TransactionRow[];
  readonly nft_transfer: NftTransferRow[];
  readonly topic_message: TopicMessageRow[];
  readonly block: BlockRow[];
}

export function noRows(): Rows {
  return {
    account: [],
    token: [],
    nft: [],
    topic: [],
    transaction: [],
    nft_transfer: [],
    topic_message: [],
    block: [],
  };
}

/** The batch as JSON that `jsonb_populate_recordset` reads: bigints as text, bytes as `\x…`. */
export function rowsAsJson(rows: Rows): string {
  const tables = Object.entries(rows).filter(([, list]) => list.length > 0);
  return JSON.stringify(
    Object.fromEntries(tables.map(([table, list]) => [table, list.map(plainRow)])),
  );
}

function plainRow(row: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, plain(value)]));
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString("hex")}`;
  return value;
}
