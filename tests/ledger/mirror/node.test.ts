import * as assert from "node:assert/strict";
import { test } from "uvu";
import { MirrorError } from "../../../src/ledger/mirror/error.ts";
import type { MessagesFrom, MirrorNode } from "../../../src/ledger/mirror/node.ts";
import { nftRow, sendJson, withStubs } from "./stub.ts";

/** Answers that were not recorded, in the shape the interface's own description gives them. */

const TOPIC = "0.0.7001";

async function answeredWith<T>(
  body: unknown,
  read: (mirror: MirrorNode) => Promise<T>,
  status = 200,
): Promise<{ value: T; asked: string | undefined }> {
  const outcome: { value?: T; asked?: string | undefined } = {};
  await withStubs([(response) => sendJson(response, status, body)], async (mirror, [stub]) => {
    outcome.value = await read(mirror);
    outcome.asked = stub.asked[0];
  });
  return outcome as { value: T; asked: string | undefined };
}

function messageRow(sequence: number, overrides: Record<string, unknown> = {}) {
  return {
    chunk_info: {
      initial_transaction_id: {
        account_id: "0.0.1001",
        nonce: 0,
        scheduled: false,
        transaction_valid_start: "1699999993.000000042",
      },
      number: 1,
      total: 1,
    },
    consensus_timestamp: `170000000${sequence}.000000123`,
    message: "eyJuIjoxfQ==",
    payer_account_id: "0.0.1001",
    running_hash: "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB",
    running_hash_version: 3,
    sequence_number: sequence,
    topic_id: TOPIC,
    ...overrides,
  };
}

const messages = (rows: unknown[], next: string | null = null) => ({
  messages: rows,
  links: { next },
});

for (const [from, query] of [
  [{}, "limit=100&order=asc"],
  [{ afterSequence: 0 }, "limit=100&order=asc"],
  [{ afterSequence: 4, limit: 25 }, "limit=25&order=asc&sequencenumber=gt:4"],
  [{ limit: 1_000 }, "limit=100&order=asc"],
] as [MessagesFrom, string][]) {
  test(`messages from ${JSON.stringify(from)} are asked for as ${query}`, async () => {
    const rows = [messageRow(5), messageRow(7)];
    const { value, asked } = await answeredWith(messages(rows, "/api/v1/next"), (mirror) =>
      mirror.topicMessages(TOPIC, from),
    );
    assert.equal(asked, `/api/v1/topics/${TOPIC}/messages?${query}`);
    assert.equal(value.more, true);
    assert.deepEqual(
      value.messages.map(({ sequenceNumber, chunk }) => [sequenceNumber, chunk?.transactionId]),
      [
        [5, "0.0.1001@1699999993.000000042"],
        [7, "0.0.1001@1699999993.000000042"],
      ],
    );
  });
}

for (const [name, rows] of [
  ["in descending order", [messageRow(7), messageRow(6)]],
  ["twice the same", [messageRow(6), messageRow(6)]],
  ["from before the asked one", [messageRow(5)]],
  ["of another topic", [messageRow(6, { topic_id: "0.0.7002" })]],
  ["not in base64", [messageRow(6, { message: "{}" })]],
  ["with a running hash of another length", [messageRow(6, { running_hash: "AQEB" })]],
  ["without a sequence number", [messageRow(6, { sequence_number: null })]],
  ["with nanoseconds cut off", [messageRow(6, { consensus_timestamp: "1700000006.5" })]],
] as [string, unknown[]][]) {
  test(`messages ${name} are refused`, async () => {
    const read = answeredWith(messages(rows), (mirror) =>
      mirror.topicMessages(TOPIC, { afterSequence: 5 }),
    );
    await assert.rejects(read, (error) => error instanceof MirrorError && error.fault === "schema");
  });
}

test("a message that claims an impossible transaction id is read, and belongs to no transaction", async () => {
  const initial_transaction_id = { account_id: "0.0.0", transaction_valid_start: "-1.-00000005" };
  const row = messageRow(6, { chunk_info: { initial_transaction_id, number: 1, total: 1 } });
  const { value } = await answeredWith(messages([row]), (mirror) =>
    mirror.topicMessages(TOPIC, {}),
  );
  assert.equal(value.messages[0]?.chunk?.transactionId, "0.0.0@-1.-00000005");
});

const topicBody = {
  admin_key: null,
  auto_renew_account: "0.0.2",
  auto_renew_period: 7776000,
  created_timestamp: "1586567700.453054000",
  custom_fees: { created_timestamp: "1586567700.453054000", fixed_fees: [] },
  deleted: false,
  fee_exempt_key_list: [],
  fee_schedule_key: null,
  memo: "stars",
  submit_key: { _type: "ED25519", key: "ab".repeat(32) },
  timestamp: { from: "1586567700.453054000", to: null },
  topic_id: TOPIC,
};

test("a topic shows who may write to it and what a message costs", async () => {
  const { value, asked } = await answeredWith(topicBody, (mirror) => mirror.topic(TOPIC));
  assert.equal(asked, `/api/v1/topics/${TOPIC}`);
  assert.deepEqual(value, {
    topicId: TOPIC,
    adminKey: null,
    submitKey: { _type: "ED25519", key: "ab".repeat(32) },
    feeScheduleKey: null,
    customFees: 0,
    memo: "stars",
    deleted: false,
  });
  const costly = { ...topicBody, custom_fees: { fixed_fees: [{ amount: 1 }] } };
  const read = await answeredWith(costly, (mirror) => mirror.topic(TOPIC));
  assert.equal(read.value?.customFees, 1);
});

test("a collection's supply is exact beyond what JSON numbers carry", async () => {
  const body = {
    token_id: "0.0.5001",
    name: "Stars",
    symbol: "STAR",
    type: "NON_FUNGIBLE_UNIQUE",
    decimals: "0",
    total_supply: "9223372036854775807",
    treasury_account_id: "0.0.1001",
    deleted: null,
  };
  const { value } = await answeredWith(body, (mirror) => mirror.token("0.0.5001"));
  assert.equal(value?.totalSupply, 9_223_372_036_854_775_807n);
  assert.equal(value?.deleted, false);
});

test("the newest block shows how far the node has come, and there may be none", async () => {
  const timestamp = { from: "1651560386.060890949", to: "1651560386.661997287" };
  const body = { blocks: [{ number: 77, timestamp, count: 3 }], links: { next: null } };
  const { value, asked } = await answeredWith(body, (mirror) => mirror.newestBlock());
  assert.equal(asked, "/api/v1/blocks?limit=1&order=desc");
  assert.deepEqual(value, { number: 77, ...timestamp });
  const none = await answeredWith({ blocks: [] }, (mirror) => mirror.newestBlock());
  assert.equal(none.value, null);
});

test("an NFT's history says when the node knows only a part of it", async () => {
  const transactions = [
    {
      consensus_timestamp: "1700000003.000000000",
      type: "TOKENDELETION",
      sender_account_id: null,
      receiver_account_id: null,
    },
  ];
  for (const [status, partial] of [
    [200, false],
    [206, true],
  ] as const) {
    const { value, asked } = await answeredWith(
      { transactions, links: { next: null } },
      (mirror) => mirror.nftTransactions("0.0.5001", 7, { until: "1700000004.000000000" }),
      status,
    );
    assert.equal(
      asked,
      "/api/v1/tokens/0.0.5001/nfts/7/transactions?limit=100&timestamp=lte:1700000004.000000000",
    );
    assert.deepEqual([value.partial, value.more, value.transactions.length], [partial, false, 1]);
  }
});

test("a history that goes on from a page that was read, or not from newest to oldest, is not believed", async () => {
  const row = (second: number) => ({
    ...{ consensus_timestamp: `170000000${second}.000000000`, type: "CRYPTOTRANSFER" },
    ...{ sender_account_id: "0.0.1001", receiver_account_id: "0.0.1002" },
  });
  const read = (rows: readonly object[], until?: string) =>
    answeredWith({ transactions: rows, links: { next: null } }, (mirror) =>
      mirror.nftTransactions("0.0.5001", 7, { until }),
    );
  const until = "1700000004.000000000";
  assert.equal((await read([row(4), row(3)], until)).value.transactions.length, 2);
  await assert.rejects(read([row(5), row(4)], until), { fault: "schema" });
  await assert.rejects(read([row(3), row(4)]), { fault: "schema" });
});

test("a burned NFT has no owner", async () => {
  const { value } = await answeredWith(nftRow(3, { account_id: null, deleted: true }), (mirror) =>
    mirror.nft("0.0.5001", 3),
  );
  const changedAt = "1700000003.000000000";
  assert.deepEqual(value, {
    tokenId: "0.0.5001",
    serial: 3,
    owner: null,
    deleted: true,
    changedAt,
  });
});

test("a contract is distinguished from an account", async () => {
  const { value, asked } = await answeredWith({ contract_id: "0.0.1001" }, (mirror) =>
    mirror.isContract("0.0.1001"),
  );
  assert.equal(value, true);
  assert.equal(asked, "/api/v1/contracts/0.0.1001");
});

for (const [name, body, read] of [
  ["message of its topic", messageRow(6), (mirror) => mirror.topicMessage(TOPIC, 5)],
  [
    "topic's message",
    messageRow(5, { topic_id: "0.0.7002" }),
    (mirror) => mirror.topicMessage(TOPIC, 5),
  ],
  ["topic", topicBody, (mirror) => mirror.topic("0.0.7002")],
  ["contract", { contract_id: "0.0.1002" }, (mirror) => mirror.isContract("0.0.1001")],
] as [string, unknown, (mirror: MirrorNode) => Promise<unknown>][]) {
  test(`an answer about another ${name} is refused`, async () => {
    await assert.rejects(answeredWith(body, read), { fault: "schema" });
  });
}

test.run();
