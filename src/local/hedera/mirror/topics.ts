import { entityId } from "../../../ledger/entity-id.ts";
import { RUNNING_HASH_VERSION } from "../../../ledger/running-hash.ts";
import { formatTimestamp } from "../../../ledger/transaction-id.ts";
import { pick } from "../sorted.ts";
import type { Message } from "../state/events.ts";
import { rowAt } from "../state/state.ts";
import { parseTimestamp } from "../timestamps.ts";
import { readEntityNum } from "./entity-reference.ts";
import { notFound } from "./errors.ts";
import { type Endpoint, listAnswer, MAX_AGE } from "./exchange.ts";
import { showKey } from "./key.ts";
import { byTime, pageOf } from "./paging.ts";
import {
  type Accepts,
  checkQuery,
  isPositiveLong,
  isTimestamp,
  lastOf,
  numberBounds,
  PAGE,
  readPart,
  timely,
} from "./parameters.ts";
import { optionalId } from "./transactions.ts";

/** `GET /topics/{id}`: who may write, who may change it, what a message costs on top. */
export const getTopic: Endpoint = ({ state, query, part }) => {
  const num = readEntityNum(part("topic"), "topic.id");
  checkQuery(query, {});
  const { topic } = state.topics.get(num) ?? notFound();
  const created = formatTimestamp(topic.created);
  return {
    maxAge: MAX_AGE.list,
    body: {
      admin_key: showKey(topic.adminKey),
      auto_renew_account: optionalId(topic.autoRenewAccount),
      auto_renew_period: topic.autoRenewPeriod,
      created_timestamp: created,
      custom_fees: {
        created_timestamp: created,
        fixed_fees: topic.customFees.map(({ amount, collector, token }) => ({
          amount,
          collector_account_id: entityId(collector),
          denominating_token_id: optionalId(token),
        })),
      },
      deleted: topic.deleted,
      fee_exempt_key_list: [],
      fee_schedule_key: showKey(topic.feeScheduleKey),
      memo: topic.memo,
      submit_key: showKey(topic.submitKey),
      timestamp: { from: formatTimestamp(topic.at), to: null },
      topic_id: entityId(num),
    },
  };
};

const isEncoding: Accepts = ({ value }) => /^(base64|utf-?8)$/i.test(value);

/** `GET /topics/{id}/messages`: oldest first; none for an unknown topic. */
export const getMessages: Endpoint = (request) => {
  const { state, query } = request;
  const num = readEntityNum(request.part("topic"), "topic.id");
  checkQuery(query, {
    ...PAGE,
    encoding: isEncoding,
    sequencenumber: isPositiveLong,
    timestamp: isTimestamp,
  });
  const page = pageOf(request, "asc");
  const asText = /^utf/i.test(lastOf(query, "encoding") ?? "");
  const messages = pick(state.topics.get(num)?.messages ?? [], page, [
    { of: ({ sequence }) => sequence, bounds: numberBounds(query, "sequencenumber") },
    timely(query),
  ]);
  const shown = messages.map((message) => showMessage(message, asText));
  return listAnswer("messages", shown, page.after(shown, byTime));
};

/** `GET /topics/{id}/messages/{sequence}` */
export const getMessage: Endpoint = ({ state, query, part }) => {
  const num = readEntityNum(part("topic"), "topic.id");
  const sequence = readPart(part("sequence"), isPositiveLong, "sequencenumber");
  checkQuery(query, {});
  return oneMessage(state.topics.get(num)?.messages[Number(sequence) - 1]);
};

/** `GET /topics/messages/{timestamp}` */
export const getMessageAt: Endpoint = ({ state, query, part }) => {
  const at = parseTimestamp(readPart(part("timestamp"), isTimestamp, "timestamp"));
  checkQuery(query, {});
  const topics = [...state.topics.values()];
  return oneMessage(topics.map(({ messages }) => rowAt(messages, at)).find(Boolean));
};

function oneMessage(message: Message = notFound()) {
  return { body: showMessage(message, false), maxAge: MAX_AGE.record };
}

function showMessage(row: Message, asText: boolean) {
  return {
    chunk_info: showChunk(row),
    consensus_timestamp: formatTimestamp(row.at),
    message: asText ? Buffer.from(row.message, "base64").toString("utf8") : row.message,
    payer_account_id: entityId(row.payer),
    running_hash: row.runningHash,
    running_hash_version: RUNNING_HASH_VERSION,
    sequence_number: row.sequence,
    topic_id: entityId(row.topic),
  };
}

function showChunk({ chunk }: Message) {
  if (chunk === null) return null;
  return {
    initial_transaction_id: {
      account_id: entityId(chunk.payer),
      nonce: 0,
      scheduled: false,
      transaction_valid_start: formatTimestamp(chunk.validStart),
    },
    number: chunk.number,
    total: chunk.total,
  };
}
