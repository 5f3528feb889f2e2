import type { Ledger } from "../ledger.ts";
import { LedgerRefusal } from "../refusal.ts";
import { type State, transactionKey } from "../state/state.ts";
import { type Nanos, nanosOfMs, SECOND } from "../timestamps.ts";
import { priceOf } from "./fees.ts";
import { type Operation, type SubmittedTransaction, topicNum } from "./transaction.ts";

/** Limits of the public network (`hedera.transaction.*`, `consensus.message.*`). */
const DURATION_MIN_S = 15;
const DURATION_MAX_S = 180;
/** A transaction must still be valid this long, to have a chance of consensus. */
const VALIDITY_BUFFER_S = 10;
const MESSAGE_BYTES_MAX = 1_024;

/**
 * The checks a node makes before it passes a transaction on, in the network's own order
 * (`IngestChecker`): node, time, duplicate, content, payer, signature, fee.
 *
 * @param node number of the node's account
 * @returns the price in tinybars
 * @throws LedgerRefusal at the first that fails
 */
export function precheck(
  transaction: SubmittedTransaction,
  { order, receipts }: Pick<Ledger, "order" | "receipts">,
  node: number,
): number {
  if (transaction.node !== node) throw new LedgerRefusal("INVALID_NODE_ACCOUNT");
  checkTime(transaction, nanosOfMs(order.now()));
  const key = transactionKey(transaction.payer, transaction.validStart);
  if (receipts.knownTo(node, key)) throw new LedgerRefusal("DUPLICATE_TRANSACTION");
  const toCostlyTopic = checkContent(transaction.operation, order.state);
  const payer = order.state.accounts.get(transaction.payer);
  if (payer === undefined) throw new LedgerRefusal("PAYER_ACCOUNT_NOT_FOUND");
  if (payer.deleted) throw new LedgerRefusal("PAYER_ACCOUNT_DELETED");
  if (payer.key === null || !transaction.signatures.satisfy(payer.key)) {
    throw new LedgerRefusal("INVALID_SIGNATURE");
  }
  const price = priceOf(transaction, toCostlyTopic);
  if (transaction.maxFee < BigInt(price)) throw new LedgerRefusal("INSUFFICIENT_TX_FEE", "", price);
  return price;
}

function checkTime({ validStart, validDuration }: SubmittedTransaction, now: Nanos): void {
  if (!(validDuration >= DURATION_MIN_S && validDuration <= DURATION_MAX_S)) {
    throw new LedgerRefusal("INVALID_TRANSACTION_DURATION");
  }
  const usable = BigInt(validDuration - VALIDITY_BUFFER_S) * SECOND;
  if (validStart + usable <= now) throw new LedgerRefusal("TRANSACTION_EXPIRED");
  if (validStart > now) throw new LedgerRefusal("INVALID_TRANSACTION_START");
}

/** @returns whether the topic charges custom fees */
function checkContent(operation: Operation, state: State): boolean {
  if (operation.kind === "create-topic") return false;
  const { topicID, message } = operation.body;
  if (topicID == null) throw new LedgerRefusal("INVALID_TOPIC_ID");
  if (!message?.length) throw new LedgerRefusal("INVALID_TOPIC_MESSAGE");
  // The network finds the next two out at consensus and charges for them; here they fail early.
  if (message.length > MESSAGE_BYTES_MAX) throw new LedgerRefusal("MESSAGE_SIZE_TOO_LARGE");
  const topic = state.topics.get(topicNum(topicID))?.topic;
  if (topic === undefined || topic.deleted) throw new LedgerRefusal("INVALID_TOPIC_ID");
  return topic.customFees.length > 0;
}
