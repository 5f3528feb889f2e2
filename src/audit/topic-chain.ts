import type { MirrorTopicMessage } from "../ledger/mirror/schemas.ts";
import {
  FIRST_RUNNING_HASH,
  FRAMINGS,
  type Framing,
  framingOf,
  linkOf,
  RUNNING_HASH_VERSION,
  runningHash,
} from "../ledger/running-hash.ts";
import type { Mismatch } from "./report.ts";

/** How far a topic's chain has been followed; plain data. */
export interface TopicChain {
  readonly topic: string;
  /** Of the last message followed; 0 before the first. */
  sequenceNumber: number;
  /** Base64. */
  runningHash: string;
  consensusTimestamp: string;
  /** How many links verified in which framing. */
  framings: Record<Framing, number>;
}

export function startOfChain(topic: string): TopicChain {
  return {
    topic,
    sequenceNumber: 0,
    runningHash: Buffer.from(FIRST_RUNNING_HASH).toString("base64"),
    consensusTimestamp: "0.000000000",
    framings: { stream: 0, plain: 0 },
  };
}

/**
 * Follows the next message: no number left out, later than the one before, and its running hash
 * that of everything so far. A broken link is reported once: what follows it is compared with the
 * hash that the mirror node gave.
 */
export function followLink(chain: TopicChain, message: MirrorTopicMessage): readonly Mismatch[] {
  const found: Mismatch[] = [];
  const { topic } = chain;
  const { sequenceNumber } = message;
  const at = { topic, sequenceNumber, message: textOf(message.bytes) };
  const next = chain.sequenceNumber + 1;
  if (sequenceNumber !== next) {
    found.push({ ...at, kind: "gap", expected: next, found: sequenceNumber });
  }
  if (compareTimestamps(message.consensusTimestamp, chain.consensusTimestamp) <= 0) {
    const expected = `after ${chain.consensusTimestamp}`;
    found.push({ ...at, kind: "consensus-order", expected, found: message.consensusTimestamp });
  }
  // After a gap there is no previous hash to compare with.
  else if (sequenceNumber === next) found.push(...checkHash(chain, message, at));
  chain.sequenceNumber = sequenceNumber;
  chain.runningHash = message.runningHash;
  chain.consensusTimestamp = message.consensusTimestamp;
  return found;
}

function checkHash(
  chain: TopicChain,
  message: MirrorTopicMessage,
  at: Pick<Mismatch, "topic" | "sequenceNumber" | "message">,
): readonly Mismatch[] {
  if (message.runningHashVersion !== RUNNING_HASH_VERSION) {
    const expected = `running hash version ${RUNNING_HASH_VERSION}`;
    return [{ ...at, kind: "chain", expected, found: `version ${message.runningHashVersion}` }];
  }
  const link = linkOf(message, Buffer.from(chain.runningHash, "base64"));
  // The layout of the last message nearly always fits again: one hash per message.
  const order = FRAMINGS.toSorted((one, other) => chain.framings[other] - chain.framings[one]);
  const framing = framingOf(link, message.runningHash, order);
  if (framing !== undefined) {
    chain.framings[framing] += 1;
    return [];
  }
  const expected = runningHash(link).toString("base64");
  return [{ ...at, kind: "chain", expected, found: message.runningHash }];
}

/** Orders `seconds.nnnnnnnnn`; equal lengths compare as text. */
export function compareTimestamps(one: string, other: string): number {
  if (one.length !== other.length) return one.length - other.length;
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** Text of a message for people: what is not printable ASCII as `?`. */
export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString("latin1")
    .replace(/[^\x20-\x7e]/g, "?");
}
