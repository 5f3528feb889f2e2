import { createHash } from "node:crypto";
import { type Nanos, SECOND } from "../timestamps.ts";

/** Version 3 is the only one in use: it covers the payer, and the message by its hash. */
export const RUNNING_HASH_VERSION = 3;

/** What a message adds to its topic's chain. */
export interface HashedMessage {
  /** The hash before it; 48 zero bytes for the first message. */
  readonly previous: Uint8Array;
  readonly payer: number;
  readonly topic: number;
  readonly at: Nanos;
  readonly sequence: number;
  readonly message: Uint8Array;
}

/**
 * A topic's running hash, version 3, as `services/transaction_receipt.proto` writes it down:
 * SHA-384 of previous hash, version, payer, topic (shard, realm, number each), consensus
 * seconds and nanoseconds, sequence number and SHA-384 of the message; big-endian, eight
 * bytes each but the nanoseconds, which have four.
 */
export function runningHash(given: HashedMessage): Uint8Array {
  const { previous, payer, topic, at, sequence, message } = given;
  const fields = Buffer.alloc(76);
  fields.writeBigUInt64BE(BigInt(RUNNING_HASH_VERSION), 0);
  // Shard and realm are zero, here and in every public network.
  fields.writeBigUInt64BE(BigInt(payer), 24);
  fields.writeBigUInt64BE(BigInt(topic), 48);
  fields.writeBigUInt64BE(at / SECOND, 56);
  fields.writeUInt32BE(Number(at % SECOND), 64);
  fields.writeBigUInt64BE(BigInt(sequence), 68);
  const content = createHash("sha384").update(message).digest();
  return createHash("sha384").update(previous).update(fields).update(content).digest();
}
