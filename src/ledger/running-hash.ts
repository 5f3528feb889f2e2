import { createHash } from "node:crypto";
import type { MirrorTopicMessage } from "./mirror/schemas.ts";

/** The version every message has had since 2020: it covers the payer, and the message by its hash. */
export const RUNNING_HASH_VERSION = 3;

/** A topic's running hash before its first message. */
export const FIRST_RUNNING_HASH: Uint8Array = new Uint8Array(48);

/** What a message adds to its topic's chain. */
export interface ChainLink {
  /** The hash before it, 48 bytes. */
  readonly previous: Uint8Array;
  /** `shard.realm.number`. */
  readonly payer: string;
  readonly topic: string;
  /** Consensus timestamp, `seconds.nnnnnnnnn`. */
  readonly consensusTimestamp: string;
  readonly sequenceNumber: number;
  readonly message: Uint8Array;
}

/**
 * How the fields are laid before SHA-384. The fields and their order are those of
 * `services/transaction_receipt.proto`; big-endian, eight bytes each but the nanoseconds,
 * which have four.
 *
 * - `stream`: what the network's consensus nodes hash, a Java object stream (the handler of
 *   ConsensusSubmitMessage writes it with `ObjectOutputStream`): both hashes as byte arrays,
 *   the numbers between them as one block of data.
 * - `plain`: the fields one after the other, as the protobuf documentation reads. No public
 *   network hashes so; emulators written from the documentation do.
 */
export type Framing = "stream" | "plain";

/** The network's own first: emulators are few. */
export const FRAMINGS: readonly Framing[] = ["stream", "plain"];

/** A message as the link that it is, after the hash before it. */
export function linkOf(message: MirrorTopicMessage, previous: Uint8Array): ChainLink {
  const { payer, topicId: topic, consensusTimestamp, sequenceNumber, bytes } = message;
  return { previous, payer, topic, consensusTimestamp, sequenceNumber, message: bytes };
}

/** The first framing in which a link gives this hash (base64); undefined: it does in none. */
export function framingOf(
  link: ChainLink,
  shown: string,
  order: readonly Framing[] = FRAMINGS,
): Framing | undefined {
  return order.find((framing) => runningHash(link, framing).toString("base64") === shown);
}

/** Stream magic and version, then an array of the class `[B`, described in full, of 48 bytes. */
const FIRST_ARRAY = Buffer.from("aced0005757200025b42acf317f8060854e0020000787000000030", "hex");
/** A block of 76 bytes of data. */
const NUMBERS = Buffer.from("774c", "hex");
/** Another array of the class already described, of 48 bytes. */
const SECOND_ARRAY = Buffer.from("7571007e000000000030", "hex");
const NUMBERS_LENGTH = 76;

/** A topic's running hash after a message, version 3: 48 bytes. */
export function runningHash(link: ChainLink, framing: Framing = "stream"): Buffer {
  const message = createHash("sha384").update(link.message).digest();
  const parts =
    framing === "stream"
      ? [FIRST_ARRAY, link.previous, NUMBERS, numbersOf(link), SECOND_ARRAY, message]
      : [link.previous, numbersOf(link), message];
  return createHash("sha384").update(Buffer.concat(parts)).digest();
}

function numbersOf({ payer, topic, consensusTimestamp, sequenceNumber }: ChainLink): Buffer {
  const bytes = Buffer.alloc(NUMBERS_LENGTH);
  const [seconds = "", nanos = ""] = consensusTimestamp.split(".");
  const longs = [RUNNING_HASH_VERSION, ...payer.split("."), ...topic.split("."), seconds];
  let offset = 0;
  for (const long of longs) offset = bytes.writeBigInt64BE(BigInt(long), offset);
  offset = bytes.writeInt32BE(Number(nanos), offset);
  bytes.writeBigInt64BE(BigInt(sequenceNumber), offset);
  return bytes;
}
