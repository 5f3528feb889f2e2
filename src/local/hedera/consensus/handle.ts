import { type Step, type Turn, transactionKey } from "../state/state.ts";
import { addTransaction } from "../state/transactions.ts";
import { SECOND } from "../timestamps.ts";
import { PrecheckFailure, type ResponseCode } from "./codes.ts";
import { createTopic } from "./create-topic.ts";
import type { Outcome, Receipt } from "./receipts.ts";
import { submitMessage } from "./submit-message.ts";
import { type SubmittedTransaction, topicNum } from "./transaction.ts";

/** What the node that passed the transaction on adds to it. */
export interface HandleOptions {
  /** Tinybars. */
  readonly price: number;
  /** A fault under test: the transaction fails with this code instead of taking effect. */
  readonly failWith?: ResponseCode | undefined;
}

/**
 * A transaction's turn in the consensus order. Whatever becomes of it, it leaves a
 * transaction row; only a success leaves more.
 */
export function handle(transaction: SubmittedTransaction, options: HandleOptions): Step<Receipt> {
  return (turn) => {
    const { status, entity, ...effect } = outcome(transaction, options, turn);
    addTransaction(turn, {
      payer: transaction.payer,
      valid_start: transaction.validStart,
      nonce: 0,
      scheduled: false,
      type: TYPE[transaction.operation.kind],
      result: status,
      entity: entity ?? null,
      node: transaction.node,
      max_fee: transaction.maxFee,
      // The node, not the payer, is charged for a duplicate.
      charged_fee: status === "DUPLICATE_TRANSACTION" ? 0 : options.price,
      memo: transaction.memo,
      valid_duration: transaction.validDuration,
      hash: transaction.hash,
    });
    return { status, ...effect };
  };
}

const TYPE = {
  "create-topic": "CONSENSUSCREATETOPIC",
  "submit-message": "CONSENSUSSUBMITMESSAGE",
} as const;

function outcome(
  transaction: SubmittedTransaction,
  { failWith }: HandleOptions,
  turn: Turn,
): Outcome {
  try {
    checkAgain(transaction, turn);
    if (failWith !== undefined) throw new PrecheckFailure(failWith);
    return transaction.operation.kind === "create-topic"
      ? createTopic(transaction, transaction.operation.body, turn)
      : submitMessage(transaction, transaction.operation.body, turn);
  } catch (error) {
    if (!(error instanceof PrecheckFailure)) throw error;
    const { operation } = transaction;
    const topic = operation.kind === "submit-message" && operation.body.topicID;
    return { status: error.code, ...(topic ? { entity: topicNum(topic) } : {}) };
  }
}

/** What may have changed between the node's check and consensus. */
function checkAgain(transaction: SubmittedTransaction, { state, at }: Turn): void {
  const { payer, validStart, validDuration, signatures } = transaction;
  if (state.handled.has(transactionKey(payer, validStart))) {
    throw new PrecheckFailure("DUPLICATE_TRANSACTION");
  }
  if (validStart + BigInt(validDuration) * SECOND < at) {
    throw new PrecheckFailure("TRANSACTION_EXPIRED");
  }
  const account = state.accounts.get(payer);
  if (account === undefined || account.deleted) throw new PrecheckFailure("PAYER_ACCOUNT_DELETED");
  if (account.key === null || !signatures.satisfy(account.key)) {
    throw new PrecheckFailure("INVALID_PAYER_SIGNATURE");
  }
}
