import hapi, { type proto as Hapi } from "@hashgraph/proto";
import { keyHex } from "../keys.ts";
import { LedgerRefusal } from "../refusal.ts";
import type { Chunk } from "../state/events.ts";
import type { Turn } from "../state/state.ts";
import { addMessage, addTopic } from "../state/topics.ts";
import {
  accountNum,
  checkMemo,
  instant,
  requireSignature,
  type SubmittedTransaction,
  topicNum,
} from "./transaction.ts";

/**
 * ConsensusCreateTopic at consensus.
 *
 * @returns the topic's number
 * @throws LedgerRefusal with the code of the receipt; nothing happens then
 */
export function createTopic(
  transaction: SubmittedTransaction,
  body: Hapi.IConsensusCreateTopicTransactionBody,
  turn: Turn,
): number {
  const adminKey = readKey(body.adminKey);
  requireSignature(transaction, adminKey);
  return addTopic(turn, {
    memo: Buffer.from(checkMemo(body.memo ?? "")).toString("utf8"),
    adminKey,
    submitKey: readKey(body.submitKey),
    feeScheduleKey: readKey(body.feeScheduleKey),
    autoRenewAccount: body.autoRenewAccount == null ? null : accountNum(body.autoRenewAccount),
    autoRenewPeriod: Number(body.autoRenewPeriod?.seconds ?? 0),
    customFees: (body.customFees ?? []).map(({ fixedFee, feeCollectorAccountId }) => ({
      amount: Number(fixedFee?.amount ?? 0),
      collector: accountNum(feeCollectorAccountId ?? {}),
      token: fixedFee?.denominatingTokenId
        ? Number(fixedFee.denominatingTokenId.tokenNum ?? 0)
        : null,
    })),
  });
}

function readKey(given: Hapi.IKey | null | undefined): string | null {
  return given == null ? null : keyHex(hapi.proto.Key.encode(given).finish());
}

/**
 * ConsensusSubmitMessage at consensus (`ConsensusSubmitMessageHandler`).
 *
 * @returns the topic's number
 * @throws LedgerRefusal with the code of the receipt; nothing happens then
 */
export function submitMessage(
  transaction: SubmittedTransaction,
  body: Hapi.IConsensusSubmitMessageTransactionBody,
  turn: Turn,
): number {
  const num = topicNum(body.topicID ?? {});
  const topic = turn.state.topics.get(num)?.topic;
  if (topic === undefined || topic.deleted) throw new LedgerRefusal("INVALID_TOPIC_ID");
  requireSignature(transaction, topic.submitKey);
  const message = body.message ?? new Uint8Array(0);
  const chunk = readChunk(transaction, body.chunkInfo);
  addMessage(turn, num, { payer: transaction.payer, message, chunk });
  return num;
}

function readChunk(
  { payer, validStart }: SubmittedTransaction,
  given: Hapi.IConsensusMessageChunkInfo | null | undefined,
): Chunk | null {
  if (given == null) return null;
  const { number = 0, total = 0, initialTransactionID: initial } = given;
  if (number == null || total == null || number < 1 || number > total) {
    throw new LedgerRefusal("INVALID_CHUNK_NUMBER");
  }
  const start = initial?.transactionValidStart;
  if (start == null || accountNum(initial?.accountID ?? {}) !== payer) {
    throw new LedgerRefusal("INVALID_CHUNK_TRANSACTION_ID");
  }
  const initialStart = instant(start);
  if (number === 1 && initialStart !== validStart) {
    throw new LedgerRefusal("INVALID_CHUNK_TRANSACTION_ID");
  }
  return { payer, validStart: initialStart, number, total };
}
