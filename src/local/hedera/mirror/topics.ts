import { entityId } from "../entity-id.ts";
import type { CustomFee } from "../state/rows.ts";
import { parseTimestamp, timestampText } from "../timestamps.ts";
import { readEntityNum } from "./account-reference.ts";
import { invalidParameter, notFound } from "./errors.ts";
import { type Endpoint, listAnswer, MAX_AGE, pageOf } from "./exchange.ts";
import { base64, int64 } from "./json.ts";
import { showKey } from "./key.ts";
import {
  type Accepts,
  checkQuery,
  filtersOf,
  isPositiveLong,
  isTimestamp,
  PAGE,
} from "./parameters.ts";
import { optionalId } from "./transactions.ts";
import { allOf, compare, compareTime, hasHappened, sorted, type View } from "./view.ts";

interface FoundTopic {
  readonly created_at: string;
  readonly valid_from: string;
  readonly deleted: boolean;
  readonly memo: string;
  readonly admin_key: Uint8Array | null;
  readonly submit_key: Uint8Array | null;
  readonly fee_schedule_key: Uint8Array | null;
  readonly auto_renew_account: string | null;
  readonly auto_renew_period: string | null;
  readonly custom_fees: readonly CustomFee[];
}

/** `GET /topics/{id}`: who may write, who may change it, what a message costs on top. */
export const getTopic: Endpoint = async ({ view, query, part }) => {
  const num = readEntityNum(part("topic"), "topic.id");
  checkQuery(query, {});
  const { sql, table } = view;
  const [row] = await sql<FoundTopic[]>`
    select created_at::text, valid_from::text, deleted, memo, admin_key, submit_key,
      fee_schedule_key, auto_renew_account::text, auto_renew_period::text, custom_fees
    from ${table("topic")}
    where num = ${num}::bigint and ${hasHappened(view, "valid_from")}
    order by valid_from desc limit 1`;
  if (row === undefined) throw notFound();
  const created = timestampText(BigInt(row.created_at));
  return {
    maxAge: MAX_AGE.list,
    body: {
      admin_key: showKey(row.admin_key),
      auto_renew_account: optionalId(row.auto_renew_account),
      auto_renew_period: int64(row.auto_renew_period),
      created_timestamp: created,
      custom_fees: {
        created_timestamp: created,
        fixed_fees: row.custom_fees.map(({ amount, collector, token }) => ({
          amount,
          collector_account_id: entityId(collector),
          denominating_token_id: optionalId(token),
        })),
      },
      deleted: row.deleted,
      fee_exempt_key_list: [],
      fee_schedule_key: showKey(row.fee_schedule_key),
      memo: row.memo,
      submit_key: showKey(row.submit_key),
      timestamp: { from: timestampText(BigInt(row.valid_from)), to: null },
      topic_id: entityId(num),
    },
  };
};

interface FoundMessage {
  readonly topic: string;
  readonly sequence: string;
  readonly at: string;
  readonly payer: string;
  readonly message: Uint8Array;
  readonly running_hash: Uint8Array;
  readonly running_hash_version: number;
  readonly chunk_payer: string | null;
  readonly chunk_valid_start: string | null;
  readonly chunk_nonce: number | null;
  readonly chunk_scheduled: boolean | null;
  readonly chunk_number: number | null;
  readonly chunk_total: number | null;
}

const isEncoding: Accepts = ({ value }) => /^(base64|utf-?8)$/i.test(value);

/** `GET /topics/{id}/messages`: oldest first; none for an unknown topic. */
export const getMessages: Endpoint = async (request) => {
  const { view, query } = request;
  const num = readEntityNum(request.part("topic"), "topic.id");
  checkQuery(query, {
    ...PAGE,
    encoding: isEncoding,
    sequencenumber: isPositiveLong,
    timestamp: isTimestamp,
  });
  const page = pageOf(request, "asc");
  const { sql } = view;
  const asText = /^utf/i.test(query.get("encoding")?.at(-1) ?? "");
  const conditions = [
    sql`topic = ${num}::bigint`,
    ...filtersOf(query, "sequencenumber").map((filter) => compare(view, "sequence", filter)),
    ...filtersOf(query, "timestamp").map((filter) => compareTime(view, "consensus_ns", filter)),
  ];
  const rows = await selectMessages(
    view,
    sql`${allOf(view, conditions)}
      order by consensus_ns ${sorted(view, page.order)} limit ${page.limit}`,
  );
  const next = page.after(rows, ({ at }) => [
    { parameter: "timestamp", value: timestampText(BigInt(at)) },
  ]);
  return listAnswer(
    "messages",
    rows.map((row) => showMessage(row, asText)),
    next,
  );
};

/** `GET /topics/{id}/messages/{sequence}` */
export const getMessage: Endpoint = async ({ view, query, part }) => {
  const num = readEntityNum(part("topic"), "topic.id");
  const sequence = part("sequence");
  if (!isPositiveLong({ operator: "eq", value: sequence })) {
    throw invalidParameter("sequencenumber");
  }
  checkQuery(query, {});
  const { sql } = view;
  return oneMessage(view, sql`topic = ${num}::bigint and sequence = ${sequence}::bigint`);
};

/** `GET /topics/messages/{timestamp}` */
export const getMessageAt: Endpoint = async ({ view, query, part }) => {
  const value = part("timestamp");
  if (!isTimestamp({ operator: "eq", value })) throw invalidParameter("timestamp");
  checkQuery(query, {});
  return oneMessage(view, view.sql`consensus_ns = ${String(parseTimestamp(value))}::bigint`);
};

async function oneMessage(view: View, condition: ReturnType<typeof allOf>) {
  const [row] = await selectMessages(view, condition);
  if (row === undefined) throw notFound();
  return { body: showMessage(row, false), maxAge: MAX_AGE.record };
}

function selectMessages(view: View, conditions: ReturnType<typeof allOf>) {
  const { sql, table } = view;
  return sql<FoundMessage[]>`
    select topic::text, sequence::text, consensus_ns::text as at, payer::text, message,
      running_hash, running_hash_version, chunk_payer::text, chunk_valid_start::text, chunk_nonce,
      chunk_scheduled, chunk_number, chunk_total
    from ${table("topic_message")}
    where ${hasHappened(view, "consensus_ns")} and ${conditions}`;
}

function showMessage(row: FoundMessage, asText: boolean) {
  return {
    chunk_info: showChunk(row),
    consensus_timestamp: timestampText(BigInt(row.at)),
    message: asText ? Buffer.from(row.message).toString("utf8") : base64(row.message),
    payer_account_id: entityId(row.payer),
    running_hash: base64(row.running_hash),
    running_hash_version: row.running_hash_version,
    sequence_number: int64(row.sequence),
    topic_id: entityId(row.topic),
  };
}

function showChunk(row: FoundMessage) {
  if (row.chunk_number === null || row.chunk_valid_start === null) return null;
  return {
    initial_transaction_id: {
      account_id: optionalId(row.chunk_payer),
      nonce: row.chunk_nonce,
      scheduled: row.chunk_scheduled,
      transaction_valid_start: timestampText(BigInt(row.chunk_valid_start)),
    },
    number: row.chunk_number,
    total: row.chunk_total,
  };
}
