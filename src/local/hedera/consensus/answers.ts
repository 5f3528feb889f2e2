import hapi, { type proto as Hapi } from "@hashgraph/proto";
import { RUNNING_HASH_VERSION } from "../../../ledger/running-hash.ts";
import { codeNumber, type ResponseCode } from "./codes.ts";
import { RATE } from "./fees.ts";
import type { Receipt } from "./receipts.ts";
import { accountNum } from "./transaction.ts";

type Int64 = NonNullable<Hapi.ITimestamp["seconds"]>;

/** @returns an encoded `TransactionResponse` */
export function precheckAnswer(code: ResponseCode, cost: number): Buffer {
  const answer = { nodeTransactionPrecheckCode: codeNumber(code), cost: int64(cost) };
  return Buffer.from(hapi.proto.TransactionResponse.encode(answer).finish());
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
  query: Hapi.ICryptoGetAccountBalanceQuery,
  balanceOf: (num: number) => bigint | undefined,
): Buffer {
  const accountID = query.accountID ?? {};
  const balance = balanceOf(accountNum(accountID));
  const code = balance === undefined ? "INVALID_ACCOUNT_ID" : "OK";
  return response({
    cryptogetAccountBalance: { header: header(code), accountID, balance: int64(balance ?? 0n) },
  });
}

/** @returns an encoded `Response` that is nothing but a refusal */
export function refusalAnswer(code: ResponseCode): Buffer {
  return response({ transactionGetReceipt: { header: header(code) } });
}

function response(body: Hapi.IResponse): Buffer {
  return Buffer.from(hapi.proto.Response.encode(body).finish());
}

function header(code: ResponseCode): Hapi.IResponseHeader {
  return { nodeTransactionPrecheckCode: codeNumber(code), cost: int64(0) };
}

function receiptMessage(receipt: Receipt): Hapi.ITransactionReceipt {
  const { status, topic, sequence, runningHash } = receipt;
  return {
    status: codeNumber(status),
    exchangeRate: {
      currentRate: { hbarEquiv: RATE.hbar, centEquiv: RATE.cents },
      nextRate: { hbarEquiv: RATE.hbar, centEquiv: RATE.cents },
    },
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
function int64(value: number | bigint): Int64 {
  return Number(value) as unknown as Int64;
}
