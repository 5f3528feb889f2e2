import { LedgerRefusal, type ResponseCode } from "../refusal.ts";
import { recentTransactions, type Step, type Turn, transactionKey } from "../state/state.ts";
import { SECOND } from "../timestamps.ts";
import { createTopic, submitMessage } from "./operations.ts";
import { type SubmittedTransaction, topicNum } from "./transaction.ts";

/**
 * A transaction's turn in the consensus order. Failed or not, it leaves a
 * transaction row; only a success leaves more.
 *
 * @param price in tinybars
 * @param failWith for tests: the transaction fails with this code instead of taking effect
 */
export function handle(
  transaction: SubmittedTransaction,
  price: number,
  failWith?: ResponseCode,
): Step<void> {
  return (turn) => {
    const { status, entity } = outcome(transaction, failWith, turn);
    turn.add({
      kind: "transaction",
      at: turn.at,
      payer: transaction.payer,
      validStart: transaction.validStart,
      type: TYPE[transaction.operation.kind],
      result: status,
      entity,
      node: transaction.node,
      maxFee: transaction.maxFee,
      // The node, not the payer, is charged for a duplicate.
      chargedFee: status === "DUPLICATE_TRANSACTION" ? 0 : price,
      memo: Buffer.from(transaction.memo).toString("base64"),
      validDuration: transaction.validDuration,
      hash: Buffer.from(transaction.hash).toString("base64"),
    });
  };
}

const TYPE = {
  "create-topic": "CONSENSUSCREATETOPIC",
  "submit-message": "CONSENSUSSUBMITMESSAGE",
} as const;

function outcome(
  transaction: SubmittedTransaction,
  failWith: ResponseCode | undefined,
  turn: Turn,
): { readonly status: ResponseCode; readonly entity: number | null } {
  const { operation } = transaction;
  try {
    checkAgain(transaction, turn);
    if (failWith !== undefined) throw new LedgerRefusal(failWith);
    const entity =
      operation.kind === "create-topic"
        ? createTopic(transaction, operation.body, turn)
        : submitMessage(transaction, operation.body, turn);
    return { status: "SUCCESS", entity };
  } catch (error) {
    if (!(error instanceof LedgerRefusal)) throw error;
    const topic = operation.kind === "submit-message" && operation.body.topicID;
    return { status: error.code, entity: topic ? topicNum(topic) : null };
  }
}

/** What may have changed between the node's check and consensus. */
function checkAgain(transaction: SubmittedTransaction, { state, at }: Turn): void {
  const { payer, validStart, validDuration, signatures } = transaction;
  if (recentTransactions(state, transactionKey(payer, validStart), at).length > 0) {
    throw new LedgerRefusal("DUPLICATE_TRANSACTION");
  }
  if (validStart + BigInt(validDuration) * SECOND < at) {
    throw new LedgerRefusal("TRANSACTION_EXPIRED");
  }
  const account = state.accounts.get(payer);
  if (account === undefined || account.deleted) throw new LedgerRefusal("PAYER_ACCOUNT_DELETED");
  if (account.key === null || !signatures.satisfy(account.key)) {
    throw new LedgerRefusal("INVALID_PAYER_SIGNATURE");
  }
}
