import hapi, { type proto as Hapi } from "@hashgraph/proto";
import { keyHex } from "../keys.ts";
import { LedgerRefusal } from "../refusal.ts";
import { newest, type State, type Turn } from "../state/state.ts";
import { addTopic } from "../state/topics.ts";
import {
  accountNum,
  checkMemo,
  requireSignature,
  type SubmittedTransaction,
} from "./transaction.ts";

/** Seconds, `entities.minLifetime` to `ledger.autoRenewPeriod.maxDuration` of the public network. */
const AUTO_RENEW_MIN_S = 2_592_000;
const AUTO_RENEW_MAX_S = 8_000_001;

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
  const submitKey = readKey(body.submitKey);
  const feeScheduleKey = readKey(body.feeScheduleKey);
  const period = Number(body.autoRenewPeriod?.seconds ?? 0);
  if (!(period >= AUTO_RENEW_MIN_S && period <= AUTO_RENEW_MAX_S)) {
    throw new LedgerRefusal("AUTORENEW_DURATION_NOT_IN_RANGE");
  }
  requireSignature(transaction, adminKey);
  const renewer = body.autoRenewAccount == null ? null : accountNum(body.autoRenewAccount);
  if (renewer !== null) requireRenewer(transaction, turn.state, renewer);
  const memo = Buffer.from(checkMemo(body.memo ?? "")).toString("utf8");
  return addTopic(turn, {
    memo,
    adminKey,
    submitKey,
    feeScheduleKey,
    autoRenewAccount: renewer,
    autoRenewPeriod: period,
    customFees: (body.customFees ?? []).map((fee) => ({
      amount: Number(fee.fixedFee?.amount ?? 0),
      collector: accountNum(fee.feeCollectorAccountId ?? {}),
      token: fee.fixedFee?.denominatingTokenId
        ? Number(fee.fixedFee.denominatingTokenId.tokenNum ?? 0)
        : null,
    })),
  });
}

function requireRenewer(transaction: SubmittedTransaction, state: State, num: number): void {
  const account = newest(state.accounts.get(num));
  if (account === undefined || account.deleted) {
    throw new LedgerRefusal("INVALID_AUTORENEW_ACCOUNT");
  }
  requireSignature(transaction, account.key);
}

/** @throws LedgerRefusal when a key is there that no signature could ever satisfy */
function readKey(given: Hapi.IKey | null | undefined): string | null {
  if (given == null) return null;
  if (!isUsable(given)) throw new LedgerRefusal("BAD_ENCODING");
  return keyHex(hapi.proto.Key.encode(given).finish());
}

function isUsable(key: Hapi.IKey): boolean {
  const list = key.keyList?.keys ?? key.thresholdKey?.keys?.keys ?? [];
  if (list.length > 0) return list.every(isUsable);
  return key.ed25519?.length === 32 || key.ECDSASecp256k1?.length === 33;
}
