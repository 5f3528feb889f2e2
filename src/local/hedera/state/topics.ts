import { entityId } from "../../../ledger/entity-id.ts";
import { FIRST_RUNNING_HASH, runningHash } from "../../../ledger/running-hash.ts";
import { formatTimestamp } from "../../../ledger/transaction-id.ts";
import { type KeyBytes, keyHex } from "../keys.ts";
import type { Chunk, CustomFee, TopicVersion } from "./events.ts";
import type { Step, Turn } from "./state.ts";
import { addOwnTransaction } from "./transactions.ts";

/** What a topic is made with; what is absent is not set. */
export interface NewTopic {
  readonly memo?: string;
  /** Without it the topic can never be changed or deleted. */
  readonly adminKey?: KeyBytes | null;
  /** Without it anyone may write to the topic. */
  readonly submitKey?: KeyBytes | null;
  readonly customFees?: readonly CustomFee[];
}

export interface NewMessage {
  readonly payer: number;
  readonly message: Uint8Array;
  readonly chunk: Chunk | null;
}

/** What clients set by default, in seconds (about three months). */
const AUTO_RENEW_PERIOD_S = 7_890_000;

/** @returns the new topic's id */
export function createTopic(given: NewTopic): Step<string> {
  return (turn) => {
    const num = addTopic(turn, {
      memo: given.memo ?? "",
      adminKey: keyHex(given.adminKey),
      submitKey: keyHex(given.submitKey),
      feeScheduleKey: null,
      autoRenewAccount: null,
      autoRenewPeriod: AUTO_RENEW_PERIOD_S,
      customFees: given.customFees ?? [],
    });
    addOwnTransaction(turn, "CONSENSUSCREATETOPIC", num);
    return entityId(num);
  };
}

/**
 * Adds the topic and nothing else: the caller adds the transaction.
 *
 * @returns its number
 */
export function addTopic(
  { state, at, add }: Turn,
  given: Omit<TopicVersion, "kind" | "num" | "at" | "deleted">,
): number {
  const num = state.nextEntity;
  add({ kind: "topic", at, num, deleted: false, ...given });
  return num;
}

/**
 * Adds the next message of a topic: one more in the sequence, one more link of the chain.
 *
 * @param num the topic's number
 */
export function addMessage(
  { state, at, add }: Turn,
  num: number,
  { payer, message, chunk }: NewMessage,
): void {
  const previous = state.topics.get(num)?.messages.at(-1);
  const sequence = (previous?.sequence ?? 0) + 1;
  const hash = runningHash({
    previous:
      previous === undefined ? FIRST_RUNNING_HASH : Buffer.from(previous.runningHash, "base64"),
    payer: entityId(payer),
    topic: entityId(num),
    consensusTimestamp: formatTimestamp(at),
    sequenceNumber: sequence,
    message,
  });
  add({
    kind: "message",
    at,
    topic: num,
    sequence,
    payer,
    message: Buffer.from(message).toString("base64"),
    runningHash: hash.toString("base64"),
    chunk,
  });
}
