import { entityId } from "../../../ledger/entity-id.ts";
import { formatTimestamp, mirrorTransactionId } from "../../../ledger/transaction-id.ts";
import { pick } from "../sorted.ts";
import type { Transaction } from "../state/events.ts";
import { nftChangesAt, type State, transactionKey } from "../state/state.ts";
import { parseTimestamp, SECOND } from "../timestamps.ts";
import { readEntityNum } from "./account-reference.ts";
import { MirrorError, notFound } from "./errors.ts";
import { type Endpoint, MAX_AGE, type MirrorRequest, type Page, pageOf } from "./exchange.ts";
import { byTime } from "./next-link.ts";
import {
  type Accepts,
  checkQuery,
  filtersOf,
  isEntityId,
  isTimestamp,
  PAGE,
} from "./parameters.ts";
import { timely } from "./view.ts";

export const isTransactionType: Accepts = ({ operator, value }) =>
  operator === "eq" && /^[a-z]{3,40}$/i.test(value);
const isResult: Accepts = ({ value }) => /^(success|fail)$/i.test(value);

const TRANSACTION_ID = /^(\d{1,4}\.\d{1,5}\.\d{1,12})-(\d{1,10})-(\d{1,9})$/;
const BAD_ID =
  'Invalid Transaction id. Please use "shard.realm.num-sss-nnn" format where sss are seconds ' +
  "and nnn are nanoseconds";
/** Consensus comes within this of the start: a scheduled one may wait half an hour. */
const CONSENSUS_FROM = -1n * SECOND;
const CONSENSUS_TO = 2_100n * SECOND;

/** `GET /transactions/{id}`: every row of that id, a success as well as later duplicates. */
export const getTransaction: Endpoint = ({ view, query, part }) => {
  const [, payer = "", seconds = "", nanos = ""] = TRANSACTION_ID.exec(part("id")) ?? [];
  if (payer === "") throw new MirrorError(400, [BAD_ID]);
  checkQuery(query, {});
  const start = parseTimestamp(`${seconds}.${nanos.padStart(9, "0")}`);
  const key = transactionKey(readEntityNum(payer, "transactionId"), start);
  const rows = (view.state.transactionsById.get(key) ?? []).filter(
    (row) =>
      row.at <= view.asOf && row.at >= start + CONSENSUS_FROM && row.at <= start + CONSENSUS_TO,
  );
  if (rows.length === 0) throw notFound();
  const transactions = rows.map((row) => showTransaction(view.state, row));
  return { body: { transactions }, maxAge: MAX_AGE.record };
};

/** `GET /transactions`: newest first. */
export const getTransactions: Endpoint = (request) => {
  const { query, view } = request;
  checkQuery(query, {
    ...PAGE,
    "account.id": isEntityId,
    result: isResult,
    timestamp: isTimestamp,
    transactiontype: isTransactionType,
  });
  const page = pageOf(request, "desc");
  const account = filtersOf(query, "account.id").at(-1)?.value;
  const { transactions: all, transactionsByPayer } = view.state;
  const rows =
    account === undefined
      ? all
      : (transactionsByPayer.get(readEntityNum(account, "account.id")) ?? []);
  const transactions = listTransactions(request, page, rows);
  const next = page.after(transactions, byTime);
  return { body: { transactions, links: { next } }, maxAge: MAX_AGE.account, next };
};

/** A page of these transactions. */
export function listTransactions(
  { view, query }: MirrorRequest,
  page: Page,
  rows: readonly Transaction[],
) {
  const types = filtersOf(query, "transactiontype").map(({ value }) => value.toUpperCase());
  const result = filtersOf(query, "result").at(-1)?.value.toLowerCase();
  const isWanted = (row: Transaction): boolean =>
    (types.length === 0 || types.includes(row.type)) &&
    (result === undefined || (row.result === "SUCCESS") === (result === "success"));
  return pick(rows, page, [timely(view, query)], isWanted).map((row) =>
    showTransaction(view.state, row),
  );
}

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
    nonce: row.nonce,
    parent_consensus_timestamp: null,
    result: row.result,
    scheduled: row.scheduled,
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
