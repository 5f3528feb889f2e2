import hapi, { type proto as Hapi } from "@hashgraph/proto";
import { keyHex } from "../keys.ts";
import type { Turn } from "../state/state.ts";
import { addTopic } from "../state/topics.ts";
import {
  accountNum,
  checkMemo,
  requireSignature,
  type SubmittedTransaction,
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
