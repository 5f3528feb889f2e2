import {
  type ServerUnaryCall,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import hapi, { type proto as Hapi } from "@hashgraph/proto";
import { coerceError } from "../../../errors.ts";
import type { Ledger } from "../ledger.ts";
import { LedgerRefusal, type ResponseCode } from "../refusal.ts";
import { transactionKey } from "../state/state.ts";
import { balanceAnswer, precheckAnswer, receiptAnswer, refusalAnswer } from "./answers.ts";
import { handle } from "./handle.ts";
import { precheck } from "./precheck.ts";
import { accountNum, instant, readTransaction } from "./transaction.ts";

/**
 * Stands between a call and its answer, so that a test can spoil either. A number `code` of what
 * it throws becomes the gRPC status.
 *
 * @param answer answers as the node does; a transaction fails at consensus with the code given
 */
export type InterceptCall = (
  call: "transactions" | "receipts",
  answer: (failWith?: ResponseCode) => Promise<Buffer>,
) => Promise<Buffer>;

/** One consensus node of the local network. */
export interface NodeSettings {
  readonly ledger: Ledger;
  /** Number of the node's account. */
  readonly num: number;
  readonly intercept?: InterceptCall | undefined;
  /** From a node's check to consensus. */
  readonly consensusDelayMs: number;
  /** How long a receipt query waits for a transaction under way before it says UNKNOWN. */
  readonly receiptPatienceMs: number;
}

const same = (bytes: Buffer): Buffer => bytes;
/**
 * Bytes in, bytes out: what does not decode must become a precheck code, not a gRPC error,
 * so the handler decodes.
 */
const method = (path: string) => ({
  path,
  requestStream: false,
  responseStream: false,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
});

export const HAPI = {
  createTopic: method("/proto.ConsensusService/createTopic"),
  submitMessage: method("/proto.ConsensusService/submitMessage"),
  getTransactionReceipts: method("/proto.CryptoService/getTransactionReceipts"),
  cryptoGetBalance: method("/proto.CryptoService/cryptoGetBalance"),
};

/** The handlers of `HAPI`. */
export function nodeHandlers(settings: NodeSettings): UntypedServiceImplementation {
  const { intercept = (_call, answer) => answer() } = settings;
  const transaction = unary((bytes) =>
    intercept("transactions", async (failWith) => accept(settings, bytes, failWith)),
  );
  return {
    createTopic: transaction,
    submitMessage: transaction,
    getTransactionReceipts: unary((bytes) =>
      intercept("receipts", () => answerReceiptQuery(settings, bytes)),
    ),
    cryptoGetBalance: unary(async (bytes) => answerBalanceQuery(settings, bytes)),
  };
}

function unary(answer: (request: Buffer) => Promise<Buffer>) {
  return (call: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Buffer>): void => {
    answer(call.request).then(
      (bytes) => reply(null, bytes),
      (thrown: unknown) => {
        const { code, message: details }: Error & { code?: unknown } = coerceError(thrown);
        reply({ code: typeof code === "number" ? code : status.INTERNAL, details });
      },
    );
  };
}

/** Checks a transaction and, if nothing speaks against it, sends it on to consensus. */
function accept(
  { ledger, num, consensusDelayMs }: NodeSettings,
  bytes: Buffer,
  failWith: ResponseCode | undefined,
): Buffer {
  const { order, receipts } = ledger;
  try {
    const transaction = readTransaction(bytes);
    const price = precheck(transaction, ledger, num);
    if (order.ended) throw new LedgerRefusal("PLATFORM_NOT_ACTIVE");
    const key = transactionKey(transaction.payer, transaction.validStart);
    const step = handle(transaction, price, failWith);
    receipts.accept(num, key, order.take(step, consensusDelayMs));
    return precheckAnswer("OK", 0);
  } catch (error) {
    if (!(error instanceof LedgerRefusal)) throw error;
    return precheckAnswer(error.code, error.cost);
  }
}

async function answerReceiptQuery(
  { ledger, receiptPatienceMs }: NodeSettings,
  bytes: Buffer,
): Promise<Buffer> {
  const query = readReceiptQuery(bytes);
  if (query === undefined) return refusalAnswer("NOT_SUPPORTED");
  await ledger.receipts.settled(query.key, receiptPatienceMs);
  return receiptAnswer(ledger.receipts.find(query.key), query.includeDuplicates);
}

function answerBalanceQuery({ ledger, num: node }: NodeSettings, bytes: Buffer): Buffer {
  const query = readQuery(bytes).cryptogetAccountBalance;
  if (query == null) return refusalAnswer("NOT_SUPPORTED");
  const { accounts } = ledger.order.state;
  // A ping asks for the node's own, which is not in the ledger: it is paid nothing.
  return balanceAnswer(query, (num) => (num === node ? 0n : accounts.get(num)?.balance));
}

/** Empty where it is none. */
function readQuery(bytes: Buffer): Hapi.IQuery {
  try {
    return hapi.proto.Query.decode(bytes);
  } catch {
    return {};
  }
}

/** The transaction and its duplicates, if they are asked for; undefined where it is no such query. */
function readReceiptQuery(bytes: Buffer) {
  try {
    const { transactionID: id, includeDuplicates } = readQuery(bytes).transactionGetReceipt ?? {};
    if (id?.accountID == null) return undefined;
    const key = transactionKey(accountNum(id.accountID), instant(id.transactionValidStart));
    return { key, includeDuplicates: includeDuplicates ?? false };
  } catch {
    return undefined;
  }
}
