import hapi, { type proto as Hapi } from "@hashgraph/proto";
import { RUNNING_HASH_VERSION } from "../../../ledger/running-hash.ts";
import type { ResponseCode } from "../refusal.ts";
import type { Receipt } from "./receipts.ts";
import { accountNum } from "./transaction.ts";

const { Response, ResponseCodeEnum, TransactionResponse } = hapi.proto;

type Int64 = NonNullable<Hapi.ITimestamp["seconds"]>;

/** @returns an encoded `TransactionResponse` */
export function precheckAnswer(code: ResponseCode, cost: number): Buffer {
  const answer = { nodeTransactionPrecheckCode: ResponseCodeEnum[code], cost: int64(cost) };
  return Buffer.from(TransactionResponse.encode(answer).finish());
}

/**
 * The answer to a receipt query, as the network gives it: RECEIPT_NOT_FOUND for what it does
 * not know (any more), the status UNKNOWN for what is under way.
 *
 * @returns an encoded `Response`
 */
export function receiptAnswer(
  found: readonly Receipt[] | undefined,
  includeDuplicates: boolean,
): Buffer {
  const [first, ...duplicates] = found ?? [];
  return response({
    transactionGetReceipt: {
      header: header(found === undefined ? "RECEIPT_NOT_FOUND" : "OK"),
      receipt: receiptMessage(first ?? { status: "UNKNOWN" }),
      ...(includeDuplicates
        ? { duplicateTransactionReceipts: duplicates.map(receiptMessage) }
        : {}),
    },
  });
}

/** @returns an encoded `Response` to a balance query, which clients use as their ping */
export function balanceAnswer(
  { accountID }: Hapi.ICryptoGetAccountBalanceQuery,
  balanceOf: (num: number) => bigint | null | undefined,
): Buffer {
  const balance = balanceOf(accountNum(accountID ?? {}));
  return response({
    cryptogetAccountBalance: {
      header: header(balance == null ? "INVALID_ACCOUNT_ID" : "OK"),
      accountID: accountID ?? {},
      balance: int64(String(balance ?? 0)),
    },
  });
}

/** @returns an encoded `Response` that is nothing but a refusal */
export function refusalAnswer(code: ResponseCode): Buffer {
  return response({ transactionGetReceipt: { header: header(code) } });
}

function response(body: Hapi.IResponse): Buffer {
  return Buffer.from(Response.encode(body).finish());
}

function header(code: ResponseCode): Hapi.IResponseHeader {
  return { nodeTransactionPrecheckCode: ResponseCodeEnum[code], cost: int64(0) };
}

function receiptMessage(receipt: Receipt): Hapi.ITransactionReceipt {
  const { status, topic, sequence, runningHash } = receipt;
  return {
    status: ResponseCodeEnum[status],
    ...(topic === undefined ? {} : { topicID: { topicNum: int64(topic) } }),
    ...(sequence === undefined || runningHash === undefined
      ? {}
      : {
          topicSequenceNumber: int64(sequence),
          topicRunningHash: runningHash,
          topicRunningHashVersion: int64(RUNNING_HASH_VERSION),
        }),
  };
}

/** The encoder takes plain numbers and digits as well; only its typings insist on `Long`. */
function int64(value: number | string): Int64 {
  return value as unknown as Int64;
}
