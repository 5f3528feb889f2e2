import { createHash } from "node:crypto";
import hapi, { type proto as Hapi } from "@hashgraph/proto";
import { LedgerRefusal } from "../refusal.ts";
import { type Nanos, SECOND } from "../timestamps.ts";
import { signaturesOver } from "./signatures.ts";

/** A transaction as it came in, decoded and whole, but not yet believed. */
export type SubmittedTransaction = Readonly<ReturnType<typeof readTransaction>>;

export type Operation =
  | { readonly kind: "create-topic"; readonly body: Hapi.IConsensusCreateTopicTransactionBody }
  | { readonly kind: "submit-message"; readonly body: Hapi.IConsensusSubmitMessageTransactionBody };

/** Limits of the public network, `hedera.transaction.*` in its configuration. */
const TRANSACTION_BYTES_MAX = 6_144;
const MEMO_BYTES_MAX = 100;

/**
 * Decodes the bytes of a `Transaction`.
 *
 * @throws LedgerRefusal when they are not a well-formed transaction of a kind known here
 */
export function readTransaction(bytes: Uint8Array) {
  if (bytes.length > TRANSACTION_BYTES_MAX) throw new LedgerRefusal("TRANSACTION_OVERSIZE");
  const { signed, signedBytes, body } = decode(bytes);
  const id = body.transactionID;
  if (id?.accountID == null) throw new LedgerRefusal("INVALID_TRANSACTION_ID");
  if (id.scheduled || id.nonce) throw new LedgerRefusal("TRANSACTION_ID_FIELD_NOT_ALLOWED");
  return {
    payer: accountNum(id.accountID),
    validStart: instant(id.transactionValidStart),
    validDuration: Number(body.transactionValidDuration?.seconds ?? 0),
    node: body.nodeAccountID == null ? 0 : accountNum(body.nodeAccountID),
    // The network reads a signed number: a cap below nought pays for nothing.
    maxFee: BigInt.asIntN(64, BigInt(String(body.transactionFee ?? 0))),
    memo: checkMemo(body.memo ?? ""),
    /** SHA-384 of the signed bytes: what the network calls the transaction's hash. */
    hash: createHash("sha384").update(signedBytes).digest(),
    signatures: signaturesOver(signed.bodyBytes, signed.sigMap?.sigPair ?? []),
    operation: readOperation(body),
  };
}

/** An account's number; 0, which never exists, for another shard, realm or an alias. */
export function accountNum(id: Hapi.IAccountID): number {
  return isHome(id) ? Number(id.accountNum ?? 0) : 0;
}

/** A topic's number; 0, which never exists, for another shard or realm. */
export function topicNum(id: Hapi.ITopicID): number {
  return isHome(id) ? Number(id.topicNum ?? 0) : 0;
}

function isHome({ shardNum, realmNum }: Pick<Hapi.ITopicID, "shardNum" | "realmNum">): boolean {
  return Number(shardNum ?? 0) === 0 && Number(realmNum ?? 0) === 0;
}

/**
 * A protobuf timestamp in nanoseconds.
 *
 * @throws LedgerRefusal when it is absent or no instant the ledger could store
 */
export function instant(given: Hapi.ITimestamp | null | undefined): Nanos {
  const seconds = BigInt(String(given?.seconds ?? -1));
  const nanos = given?.nanos ?? 0;
  if (seconds < 0n || seconds > 9_000_000_000n || nanos < 0 || nanos >= Number(SECOND)) {
    throw new LedgerRefusal("INVALID_TRANSACTION_START");
  }
  return seconds * SECOND + BigInt(nanos);
}

/** @throws LedgerRefusal when a memo is too long, or holds a zero byte */
export function checkMemo(memo: string): Uint8Array {
  const bytes = Buffer.from(memo, "utf8");
  if (bytes.length > MEMO_BYTES_MAX) throw new LedgerRefusal("MEMO_TOO_LONG");
  if (bytes.includes(0)) throw new LedgerRefusal("INVALID_ZERO_BYTE_IN_STRING");
  return bytes;
}

/**
 * @param key hex of a protobuf `Key`
 * @throws LedgerRefusal when there is a key and the transaction's signatures do not satisfy it
 */
export function requireSignature({ signatures }: SubmittedTransaction, key: string | null): void {
  if (key !== null && !signatures.satisfy(key)) throw new LedgerRefusal("INVALID_SIGNATURE");
}

function decode(bytes: Uint8Array) {
  const { proto } = hapi;
  try {
    const { signedTransactionBytes: signedBytes } = proto.Transaction.decode(bytes);
    const signed = proto.SignedTransaction.decode(signedBytes);
    const body = proto.TransactionBody.decode(signed.bodyBytes);
    if (signedBytes.length === 0) throw new LedgerRefusal("INVALID_TRANSACTION");
    return { signed, signedBytes, body };
  } catch (error) {
    throw error instanceof LedgerRefusal ? error : new LedgerRefusal("INVALID_TRANSACTION");
  }
}

function readOperation(body: Hapi.ITransactionBody): Operation {
  if (body.consensusSubmitMessage != null) {
    return { kind: "submit-message", body: body.consensusSubmitMessage };
  }
  if (body.consensusCreateTopic != null) {
    return { kind: "create-topic", body: body.consensusCreateTopic };
  }
  throw new LedgerRefusal("NOT_SUPPORTED");
}
