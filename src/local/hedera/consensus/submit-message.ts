import type { proto as Hapi } from "@hashgraph/proto";
import { LedgerRefusal } from "../refusal.ts";
import type { Chunk } from "../state/events.ts";
import type { Turn } from "../state/state.ts";
import { addMessage } from "../state/topics.ts";
import {
  accountNum,
  instant,
  requireSignature,
  type SubmittedTransaction,
  topicNum,
} from "./transaction.ts";

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
