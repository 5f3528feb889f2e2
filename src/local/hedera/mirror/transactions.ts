import { entityId } from "../../../ledger/entity-id.ts";
import { formatTimestamp, mirrorTransactionId } from "../../../ledger/transaction-id.ts";
import { pick } from "../sorted.ts";
import type { Transaction } from "../state/events.ts";
import { nftChangesAt, type State, transactionKey } from "../state/state.ts";
import { parseTimestamp } from "../timestamps.ts";
import { readEntityNum } from "./entity-reference.ts";
import { MirrorError, notFound } from "./errors.ts";
import { type Endpoint, listAnswer, MAX_AGE } from "./exchange.ts";
import { byTime, pageOf } from "./paging.ts";
import {
  type Accepts,
  checkQuery,
  isOneEntity,
  isTimestamp,
  lastOf,
  PAGE,
  timely,
} from "./parameters.ts";

const isTransactionType: Accepts = ({ value }) => /^[a-z]{3,40}$/i.test(value);
const isResult: Accepts = ({ value }) => /^(success|fail)$/i.test(value);

const TRANSACTION_ID = /^(\d{1,4}\.\d{1,5}\.\d{1,12})-(\d{1,10})-(\d{1,9})$/;
const BAD_ID =
  'Invalid Transaction id. Please use "shard.realm.num-sss-nnn" format where sss are seconds ' +
  "and nnn are nanoseconds";

/** `GET /transactions/{id}`: every row of that id, a success as well as later duplicates. */
export const getTransaction: Endpoint = ({ state, query, part }) => {
  const [, payer = "", seconds = "", nanos = ""] = TRANSACTION_ID.exec(part("id")) ?? [];
  if (payer === "") throw new MirrorError(400, [BAD_ID]);
  checkQuery(query, {});
  const start = parseTimestamp(`${seconds}.${nanos.padStart(9, "0")}`);
  const key = transactionKey(readEntityNum(payer, "transactionId"), start);
  const rows = state.transactionsById.get(key) ?? notFound();
  const transactions = rows.map((row) => showTransaction(state, row));
  return { body: { transactions }, maxAge: MAX_AGE.record };
};

/** `GET /transactions`: newest first. */
export const getTransactions: Endpoint = (request) => {
  const { query, state } = request;
  checkQuery(query, {
    ...PAGE,
    "account.id": isOneEntity,
    result: isResult,
    timestamp: isTimestamp,
    transactiontype: isTransactionType,
  });
  const page = pageOf(request, "desc");
  const [account, type, result] = ["account.id", "transactiontype", "result"].map((name) =>
    lastOf(query, name)?.toUpperCase(),
  );
  const rows =
    account === undefined
      ? state.transactions
      : (state.transactionsByPayer.get(readEntityNum(account, "account.id")) ?? []);
  const isWanted = (row: Transaction): boolean =>
    (type === undefined || row.type === type) &&
    (result === undefined || (row.result === "SUCCESS") === (result === "SUCCESS"));
  const transactions = pick(rows, page, [timely(query)], isWanted).map((row) =>
    showTransaction(state, row),
  );
  const next = page.after(transactions, byTime);
  return { ...listAnswer("transactions", transactions, next), maxAge: MAX_AGE.account };
};

function showTransaction(state: State, row: Transaction) {
  return {
    batch_key: null,
    bytes: null,
    charged_tx_fee: row.chargedFee,
    consensus_timestamp: formatTimestamp(row.at),
    entity_id: optionalId(row.entity),
    high_volume: false,
    high_volume_pricing_multiplier: null,
    max_fee: String(row.maxFee),
    max_custom_fees: [],
    memo_base64: row.memo,
    name: row.type,
    nft_transfers: nftChangesAt(state, row.at).flatMap(({ hops, serial, token }) =>
      hops.map(({ from, to }) => ({
        is_approval: false,
        receiver_account_id: optionalId(to),
        sender_account_id: optionalId(from),
        serial_number: serial,
        token_id: entityId(token),
      })),
    ),
    node: optionalId(row.node),
    nonce: 0,
    parent_consensus_timestamp: null,
    result: row.result,
    scheduled: false,
    staking_reward_transfers: [],
    token_transfers: [],
    transaction_hash: row.hash,
    transaction_id: mirrorTransactionId({ payer: entityId(row.payer), validStart: row.validStart }),
    transfers: [],
    valid_duration_seconds: String(row.validDuration),
    valid_start_timestamp: formatTimestamp(row.validStart),
  };
}

export function optionalId(num: number | null): string | null {
  return num === null ? null : entityId(num);
}
