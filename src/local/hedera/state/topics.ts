import {
  FIRST_RUNNING_HASH,
  RUNNING_HASH_VERSION,
  runningHash,
} from "../../../ledger/running-hash.ts";
import { entityId, entityNum } from "../entity-id.ts";
import type { KeyBytes } from "../keys.ts";
import { LedgerRefusal } from "../refusal.ts";
import { type Nanos, timestampText } from "../timestamps.ts";
import { livingAccount } from "./accounts.ts";
import type { CustomFee, TopicRow } from "./rows.ts";
import { type Step, type Topic, type Turn, takeEntityNum } from "./state.ts";
import { addOwnTransaction } from "./transactions.ts";

/** What a topic is made with; whatever is absent is not set. */
export interface NewTopic {
  readonly memo?: string;
  /** Without it nobody can ever change or delete the topic. */
  readonly adminKey?: KeyBytes | null;
  /** Without it anyone may write to the topic. */
  readonly submitKey?: KeyBytes | null;
  readonly feeScheduleKey?: KeyBytes | null;
  readonly autoRenewAccount?: string;
  readonly customFees?: readonly CustomFee[];
}

/** Which part of a larger message one is; clients send it even for a message of one part. */
export interface Chunk {
  readonly payer: number;
  readonly validStart: Nanos;
  readonly nonce: number;
  readonly scheduled: boolean;
  readonly number: number;
  readonly total: number;
}

export interface NewMessage {
  readonly payer: number;
  readonly message: Uint8Array;
  readonly chunk: Chunk | null;
}

/** What clients set when nobody says otherwise, in seconds (about three months). */
const AUTO_RENEW_PERIOD_S = 7_890_000;

/** @returns the new topic's id */
export function createTopic(given: NewTopic): Step<string> {
  return (turn) => {
    const { autoRenewAccount: renewer } = given;
    const num = addTopic(turn, {
      memo: given.memo ?? "",
      admin_key: given.adminKey ?? null,
      submit_key: given.submitKey ?? null,
      fee_schedule_key: given.feeScheduleKey ?? null,
      auto_renew_account: renewer === undefined ? null : livingAccount(turn.state, renewer).num,
      auto_renew_period: AUTO_RENEW_PERIOD_S,
      custom_fees: given.customFees ?? [],
    });
    addOwnTransaction(turn, "CONSENSUSCREATETOPIC", num);
    return entityId(num);
  };
}

/** Adds the topic and nothing else: its transaction is the caller's affair. */
export function addTopic(
  { state, rows, at }: Turn,
  given: Omit<TopicRow, "num" | "valid_from" | "created_at" | "deleted">,
): number {
  const num = takeEntityNum(state);
  const row = { num, valid_from: at, created_at: at, deleted: false, ...given };
  state.topics.set(num, { row, sequence: 0, runningHash: FIRST_RUNNING_HASH });
  rows.topic.push(row);
  return num;
}

/** Adds the next message of a topic: one more in the sequence, one more link of the chain. */
export function addMessage({ rows, at }: Turn, topic: Topic, given: NewMessage): void {
  const { payer, message, chunk } = given;
  const sequence = topic.sequence + 1;
  const { num } = topic.row;
  topic.runningHash = runningHash({
    previous: topic.runningHash,
    payer: entityId(payer),
    topic: entityId(num),
    consensusTimestamp: timestampText(at),
    sequenceNumber: sequence,
    message,
  });
  topic.sequence = sequence;
  rows.topic_message.push({
    topic: num,
    sequence,
    consensus_ns: at,
    payer,
    message,
    running_hash: topic.runningHash,
    running_hash_version: RUNNING_HASH_VERSION,
    chunk_payer: chunk?.payer ?? null,
    chunk_valid_start: chunk?.validStart ?? null,
    chunk_nonce: chunk?.nonce ?? null,
    chunk_scheduled: chunk?.scheduled ?? null,
    chunk_number: chunk?.number ?? null,
    chunk_total: chunk?.total ?? null,
  });
}

/** Deletes a topic; no message is taken any more, those it has stay. */
export function deleteTopic(id: string): Step<void> {
  return (turn) => {
    const topic = turn.state.topics.get(entityNum(id));
    if (topic === undefined || topic.row.deleted) {
      throw new LedgerRefusal("INVALID_TOPIC_ID", `no topic ${id}`);
    }
    topic.row = { ...topic.row, valid_from: turn.at, deleted: true };
    turn.rows.topic.push(topic.row);
    addOwnTransaction(turn, "CONSENSUSDELETETOPIC", topic.row.num);
  };
}
