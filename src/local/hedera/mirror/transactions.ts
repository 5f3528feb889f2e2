import { entityId } from "../entity-id.ts";
import { parseTimestamp, SECOND, timestampText, transactionIdText } from "../timestamps.ts";
import { readEntityNum } from "./account-reference.ts";
import { MirrorError, notFound } from "./errors.ts";
import { type Endpoint, MAX_AGE, type MirrorRequest, type Page, pageOf } from "./exchange.ts";
import { base64, int64 } from "./json.ts";
import {
  type Accepts,
  checkQuery,
  filtersOf,
  flagOf,
  isEntityId,
  isFlag,
  isTimestamp,
  PAGE,
} from "./parameters.ts";
import { allOf, compareTime, hasHappened, sorted, type View } from "./view.ts";

interface Found {
  readonly consensus_ns: string;
  readonly payer: string;
  readonly valid_start: string;
  readonly nonce: number;
  readonly scheduled: boolean;
  readonly type: string;
  readonly result: string;
  readonly entity: string | null;
  readonly node: string | null;
  readonly max_fee: string;
  readonly charged_fee: string;
  readonly memo: Uint8Array;
  readonly valid_duration: string;
  readonly hash: Uint8Array;
  readonly transfers: readonly NftTransfer[] | null;
}

interface NftTransfer {
  readonly token: number;
  readonly serial: number;
  readonly sender: number | null;
  readonly receiver: number | null;
}

export const isTransactionType: Accepts = ({ operator, value }) =>
  operator === "eq" && /^[a-z]{3,40}$/i.test(value);
const isResult: Accepts = ({ value }) => /^(success|fail)$/i.test(value);
const isNonce: Accepts = ({ operator, value }) => operator === "eq" && /^\d{1,9}$/.test(value);

const TRANSACTION_ID = /^(\d{1,4}\.\d{1,5}\.\d{1,12})-(\d{1,10})-(\d{1,9})$/;
const BAD_ID =
  'Invalid Transaction id. Please use "shard.realm.num-sss-nnn" format where sss are seconds ' +
  "and nnn are nanoseconds";
/** Consensus comes within this of the start: a scheduled one may wait half an hour. */
const CONSENSUS_FROM = -1n * SECOND;
const CONSENSUS_TO = 2_100n * SECOND;

/** `GET /transactions/{id}`: every row of that id, a success as well as later duplicates. */
export const getTransaction: Endpoint = async ({ view, query, part }) => {
  const [, payer = "", seconds = "", nanos = ""] = TRANSACTION_ID.exec(part("id")) ?? [];
  if (payer === "") throw new MirrorError(400, [BAD_ID]);
  checkQuery(query, { nonce: isNonce, scheduled: isFlag });
  const { sql } = view;
  const start = parseTimestamp(`${seconds}.${nanos.padStart(9, "0")}`);
  const nonce = filtersOf(query, "nonce").at(-1)?.value;
  const scheduled = flagOf(query, "scheduled");
  const rows = await selectTransactions(
    view,
    sql`payer = ${readEntityNum(payer, "transactionId")}::bigint
      and valid_start = ${String(start)}::bigint
      and consensus_ns between ${String(start + CONSENSUS_FROM)}::bigint
        and ${String(start + CONSENSUS_TO)}::bigint
      and ${nonce === undefined ? sql`true` : sql`nonce = ${nonce}::int`}
      and ${scheduled === undefined ? sql`true` : sql`scheduled = ${scheduled}`}
      order by consensus_ns`,
  );
  if (rows.length === 0) throw notFound();
  return { body: { transactions: rows.map(showTransaction) }, maxAge: MAX_AGE.record };
};

/** `GET /transactions`: newest first. */
export const getTransactions: Endpoint = async (request) => {
  checkQuery(request.query, {
    ...PAGE,
    "account.id": isEntityId,
    result: isResult,
    timestamp: isTimestamp,
    transactiontype: isTransactionType,
  });
  const page = pageOf(request, "desc");
  const account = filtersOf(request.query, "account.id").at(-1)?.value;
  const payer = account === undefined ? undefined : readEntityNum(account, "account.id");
  const transactions = await listTransactions(request, page, payer);
  const next = page.after(transactions, ({ consensus_timestamp: value }) => [
    { parameter: "timestamp", value },
  ]);
  return { body: { transactions, links: { next } }, maxAge: MAX_AGE.account, next };
};

/** A page of transactions, of one payer or of all. */
export async function listTransactions(request: MirrorRequest, page: Page, payer?: string) {
  const { view, query } = request;
  const { sql } = view;
  const types = filtersOf(query, "transactiontype").map(({ value }) => value.toUpperCase());
  const result = filtersOf(query, "result").at(-1)?.value.toLowerCase();
  const conditions = [
    ...(payer === undefined ? [] : [sql`payer = ${payer}::bigint`]),
    ...(types.length === 0 ? [] : [sql`type = any(${types})`]),
    ...(result === undefined ? [] : [sql`(result = 'SUCCESS') = ${result === "success"}`]),
    ...filtersOf(query, "timestamp").map((filter) => compareTime(view, "consensus_ns", filter)),
  ];
  const rows = await selectTransactions(
    view,
    sql`${allOf(view, conditions)}
      order by consensus_ns ${sorted(view, page.order)} limit ${page.limit}`,
  );
  return rows.map(showTransaction);
}

function selectTransactions(view: View, conditions: ReturnType<typeof allOf>) {
  const { sql, table } = view;
  return sql<Found[]>`
    select consensus_ns::text, payer::text, valid_start::text, nonce, scheduled, type, result,
      entity::text, node::text, max_fee::text, charged_fee::text, memo, valid_duration::text, hash,
      (select json_agg(json_build_object('token', h.token, 'serial', h.serial,
          'sender', h.sender, 'receiver', h.receiver) order by h.token, h.serial)
        from ${table("nft_transfer")} h where h.consensus_ns = t.consensus_ns) as transfers
    from ${table("transaction")} t
    where ${hasHappened(view, "consensus_ns")} and ${conditions}`;
}

function showTransaction(row: Found) {
  const start = BigInt(row.valid_start);
  return {
    batch_key: null,
    bytes: null,
    charged_tx_fee: int64(row.charged_fee),
    consensus_timestamp: timestampText(BigInt(row.consensus_ns)),
    entity_id: optionalId(row.entity),
    high_volume: false,
    high_volume_pricing_multiplier: null,
    max_fee: row.max_fee,
    max_custom_fees: [],
    memo_base64: base64(row.memo),
    name: row.type,
    nft_transfers: (row.transfers ?? []).map((hop) => ({
      is_approval: false,
      receiver_account_id: optionalId(hop.receiver),
      sender_account_id: optionalId(hop.sender),
      serial_number: hop.serial,
      token_id: entityId(hop.token),
    })),
    node: optionalId(row.node),
    nonce: row.nonce,
    parent_consensus_timestamp: null,
    result: row.result,
    scheduled: row.scheduled,
    staking_reward_transfers: [],
    token_transfers: [],
    transaction_hash: base64(row.hash),
    transaction_id: transactionIdText(row.payer, start),
    transfers: [],
    valid_duration_seconds: row.valid_duration,
    valid_start_timestamp: timestampText(start),
  };
}

export function optionalId(num: string | number | null): string | null {
  return num === null ? null : entityId(num);
}
