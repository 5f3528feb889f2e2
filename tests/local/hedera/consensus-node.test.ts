import * as assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import hapi from "@hashgraph/proto";
import { test } from "uvu";
import { formatTimestamp, mirrorTransactionId } from "../../../src/ledger/transaction-id.ts";
import { startConsensusNodes } from "../../../src/local/hedera/consensus-node.ts";
import { ed25519Key } from "../../../src/local/hedera/keys.ts";
import { nanosOfMs, SECOND } from "../../../src/local/hedera/timestamps.ts";
import { type Draft, hapiClient, int64, submitMessage, transactionBytes } from "./hapi-client.ts";
import { type Body, newHolder, rawPublicKey, testNetwork } from "./network.ts";

const clock = { ms: 1_800_000_000_000 };
const network = await testNetwork({ now: () => clock.ms });
const { hedera, operator } = network;
const { ledger, nodes } = hedera;
const node = hapiClient(nodes[0]?.address ?? "");
const open = await ledger.createTopic({});

test.after(async () => {
  node.close();
  await network.close();
});

let drafts = 0;

/** A message that nothing is wrong with but what the test says. */
function draft(more: Partial<Draft> = {}): Draft {
  drafts += 1;
  return {
    payer: operator,
    node: "0.0.3",
    validStart: nanosOfMs(clock.ms) - 10n * SECOND + BigInt(drafts),
    body: submitMessage(open, Buffer.from(`message ${drafts}`)),
    ...more,
  };
}

async function codeOf(more: Partial<Draft>): Promise<string> {
  return (await node.send(transactionBytes(draft(more)))).code;
}

test("a good message is accepted and its receipt has sequence number and running hash", async () => {
  const given = draft();
  assert.equal((await node.send(transactionBytes(given))).code, "OK");
  const { header, status, receipt } = await node.receipts(operator.id, given.validStart);
  assert.equal(header, "OK");
  assert.equal(status, "SUCCESS");
  assert.equal(Number(receipt.topicSequenceNumber), 1);
  assert.equal(receipt.topicRunningHash?.length, 48);
  assert.equal(Number(receipt.topicRunningHashVersion), 3);
});

test("bytes that are no transaction are INVALID_TRANSACTION, and never a gRPC error", async () => {
  for (const bytes of [Buffer.alloc(0), Buffer.from("ffffffff", "hex"), Buffer.from("hello")]) {
    assert.equal((await node.send(bytes)).code, "INVALID_TRANSACTION");
  }
});

test("a transaction of more than 6144 bytes is TRANSACTION_OVERSIZE", async () => {
  assert.equal((await node.send(Buffer.alloc(6_145))).code, "TRANSACTION_OVERSIZE");
});

test("a transaction for another node is INVALID_NODE_ACCOUNT", async () => {
  assert.equal(await codeOf({ node: "0.0.4" }), "INVALID_NODE_ACCOUNT");
});

test("a message of 1024 bytes is taken, one of 1025 is MESSAGE_SIZE_TOO_LARGE", async () => {
  const sized = (size: number) => ({ body: submitMessage(open, Buffer.alloc(size, "x")) });
  assert.equal(await codeOf(sized(1_024)), "OK");
  assert.equal(await codeOf(sized(1_025)), "MESSAGE_SIZE_TOO_LARGE");
});

test("an empty message is INVALID_TOPIC_MESSAGE", async () => {
  assert.equal(
    await codeOf({ body: submitMessage(open, Buffer.alloc(0)) }),
    "INVALID_TOPIC_MESSAGE",
  );
});

test("an unknown topic is INVALID_TOPIC_ID, and so is a deleted one", async () => {
  const message = Buffer.from("m");
  const deleted = await ledger.createTopic({});
  await ledger.deleteTopic(deleted);
  assert.equal(await codeOf({ body: submitMessage("0.0.424242", message) }), "INVALID_TOPIC_ID");
  assert.equal(await codeOf({ body: submitMessage(deleted, message) }), "INVALID_TOPIC_ID");
});

test("an unknown payer is PAYER_ACCOUNT_NOT_FOUND, a deleted one PAYER_ACCOUNT_DELETED", async () => {
  assert.equal(
    await codeOf({ payer: { ...operator, id: "0.0.424242" } }),
    "PAYER_ACCOUNT_NOT_FOUND",
  );
  const gone = await newHolder(hedera);
  await ledger.deleteAccount(gone.id);
  assert.equal(await codeOf({ payer: gone }), "PAYER_ACCOUNT_DELETED");
});

test("numbers of another shard or realm are neither payer nor topic nor node", async () => {
  const given = draft();
  const elsewhere = { realmNum: int64(1) };
  const accountID = { accountNum: int64(Number(operator.id.slice(4))), ...elsewhere };
  const transactionValidStart = {
    seconds: int64(Number(given.validStart / SECOND)),
    nanos: Number(given.validStart % SECOND),
  };
  const transactionID = { accountID, transactionValidStart };
  assert.equal(await codeOf({ body: { ...given.body, transactionID } }), "PAYER_ACCOUNT_NOT_FOUND");
  const message = { ...given.body.consensusSubmitMessage };
  const topicID = { ...message.topicID, shardNum: int64(1) };
  const consensusSubmitMessage = { ...message, topicID };
  assert.equal(await codeOf({ body: { consensusSubmitMessage } }), "INVALID_TOPIC_ID");
  const nodeAccountID = { accountNum: int64(3), ...elsewhere };
  assert.equal(await codeOf({ body: { ...given.body, nodeAccountID } }), "INVALID_NODE_ACCOUNT");
});

test("where the clock is set back the ledger's time goes on, and takes transactions by it", async () => {
  const machine = { ms: clock.ms };
  const network = await testNetwork({ now: () => machine.ms, blockEveryMs: 0 });
  const { ledger, nodes } = network.hedera;
  const topic = await ledger.createTopic({});
  machine.ms -= 86_400_000;
  ledger.order.now();
  machine.ms += 5_000;
  const time = nanosOfMs(clock.ms + 5_000);
  const node = hapiClient(nodes[0]?.address ?? "");
  const given = draft({
    payer: network.operator,
    validStart: time - 10n * SECOND,
    body: submitMessage(topic, Buffer.from("a day later by the ledger")),
  });
  assert.equal((await node.send(transactionBytes(given))).code, "OK");
  const { status } = await node.receipts(network.operator.id, given.validStart);
  assert.equal(status, "SUCCESS");
  assert.equal(ledger.lastConsensus(), formatTimestamp(time));
  node.close();
  await network.close();
});

test("a valid duration outside 15 to 180 seconds is INVALID_TRANSACTION_DURATION", async () => {
  const start = { validStart: nanosOfMs(clock.ms) };
  assert.equal(await codeOf({ validSeconds: 14, ...start }), "INVALID_TRANSACTION_DURATION");
  assert.equal(await codeOf({ validSeconds: 181, ...start }), "INVALID_TRANSACTION_DURATION");
  const body = { ...draft().body, transactionValidDuration: null };
  assert.equal(await codeOf({ body, ...start }), "INVALID_TRANSACTION_DURATION");
});

test("a start in the future is INVALID_TRANSACTION_START", async () => {
  const validStart = nanosOfMs(clock.ms) + SECOND;
  assert.equal(await codeOf({ validStart }), "INVALID_TRANSACTION_START");
});

test("a transaction that has ten seconds or less to live is TRANSACTION_EXPIRED", async () => {
  const started = (ago: bigint) => ({ validStart: nanosOfMs(clock.ms) - ago * SECOND });
  assert.equal(await codeOf({ validSeconds: 60, ...started(50n) }), "TRANSACTION_EXPIRED");
  assert.equal(await codeOf({ validSeconds: 60, ...started(49n) }), "OK");
});

test("a wrong signature, and none, is INVALID_SIGNATURE", async () => {
  const stranger = await newHolder(hedera);
  assert.equal(await codeOf({ signers: [stranger] }), "INVALID_SIGNATURE");
  assert.equal(await codeOf({ signers: [] }), "INVALID_SIGNATURE");
});

test("a replaced key signs no more", async () => {
  const holder = await newHolder(hedera);
  assert.equal(await codeOf({ payer: holder }), "OK");
  const next = generateKeyPairSync("ed25519");
  await ledger.rotateAccountKey(holder.id, ed25519Key(rawPublicKey(next.publicKey)));
  assert.equal(await codeOf({ payer: holder }), "INVALID_SIGNATURE");
});

test("a fee cap below the price is INSUFFICIENT_TX_FEE and names the price", async () => {
  const { code, cost } = await node.send(transactionBytes(draft({ maxFee: 666_666 })));
  assert.equal(code, "INSUFFICIENT_TX_FEE");
  // 8,000,000 tinycents at twelve cents an HBAR.
  assert.equal(cost, 666_667);
  assert.equal(await codeOf({ maxFee: 666_667 }), "OK");
  assert.equal(await codeOf({ maxFee: -1 }), "INSUFFICIENT_TX_FEE");
});

test("writing to a topic with custom fees costs more", async () => {
  const customFees = [{ amount: 1, collector: 1001, token: null }];
  const costly = await ledger.createTopic({ customFees });
  const body = submitMessage(costly, Buffer.from("m"));
  assert.equal(await codeOf({ body, maxFee: 1_000_000 }), "INSUFFICIENT_TX_FEE");
});

test("a memo of more than 100 bytes, or with a zero byte, is refused", async () => {
  assert.equal(await codeOf({ memo: "é".repeat(51) }), "MEMO_TOO_LONG");
  assert.equal(await codeOf({ memo: "a\0b" }), "INVALID_ZERO_BYTE_IN_STRING");
});

test("a kind of transaction that is not known here is NOT_SUPPORTED", async () => {
  assert.equal(await codeOf({ body: { consensusDeleteTopic: {} } }), "NOT_SUPPORTED");
});

test("the same id twice at one node is DUPLICATE_TRANSACTION", async () => {
  const bytes = transactionBytes(draft());
  assert.equal((await node.send(bytes)).code, "OK");
  assert.equal((await node.send(bytes)).code, "DUPLICATE_TRANSACTION");
});

test("the same id at two nodes takes effect once, and the mirror node shows both rows", async () => {
  // Slow enough that neither node knows of the other when it is asked.
  const slow = await startConsensusNodes({ ledger, count: 2, consensusDelayMs: 1_500 });
  const given = draft();
  const count = await messageCount();
  for (const [index, { address, account }] of slow.nodes.entries()) {
    const client = hapiClient(address);
    const bytes = transactionBytes({ ...given, node: account });
    assert.equal((await client.send(bytes)).code, "OK", `node ${index}`);
    client.close();
  }
  const { status, duplicates } = await settledReceipts(given, 2);
  assert.deepEqual([status, duplicates], ["SUCCESS", ["DUPLICATE_TRANSACTION"]]);
  const { body } = await network.get(`/transactions/${mirrorId(given)}`);
  const results = body.transactions.map((row: Body) => [row.result, row.node]);
  assert.deepEqual(results, [
    ["SUCCESS", "0.0.3"],
    ["DUPLICATE_TRANSACTION", "0.0.4"],
  ]);
  assert.equal(await messageCount(), count + 1);
  await slow.close();
});

test("while a transaction is under way its receipt says UNKNOWN", async () => {
  const slow = await startConsensusNodes({
    ledger,
    count: 1,
    consensusDelayMs: 2_000,
    receiptPatienceMs: 0,
  });
  const client = hapiClient(slow.nodes[0]?.address ?? "");
  const given = draft();
  assert.equal((await client.send(transactionBytes(given))).code, "OK");
  const { header, status } = await client.receipts(operator.id, given.validStart);
  assert.deepEqual([header, status], ["OK", "UNKNOWN"]);
  assert.equal((await settledReceipts(given, 1)).status, "SUCCESS");
  client.close();
  await slow.close();
});

test("a transaction that expires on its way to consensus has no effect", async () => {
  const slow = await startConsensusNodes({ ledger, count: 1, consensusDelayMs: 2_000 });
  const client = hapiClient(slow.nodes[0]?.address ?? "");
  const given = draft({ validSeconds: 30 });
  assert.equal((await client.send(transactionBytes(given))).code, "OK");
  clock.ms += 30_000;
  assert.equal((await settledReceipts(given, 1)).status, "TRANSACTION_EXPIRED");
  client.close();
  await slow.close();
});

test("a topic with a submit key takes messages signed with it, and charges for the others", async () => {
  const writer = await newHolder(hedera);
  const guarded = await ledger.createTopic({ submitKey: ed25519Key(writer.publicKey) });
  const body = submitMessage(guarded, Buffer.from("m"));
  const without = draft({ body });
  assert.equal((await node.send(transactionBytes(without))).code, "OK");
  const refused = await node.receipts(operator.id, without.validStart);
  assert.equal(refused.status, "INVALID_SIGNATURE");
  const signed = draft({ body, signers: [operator, writer] });
  assert.equal((await node.send(transactionBytes(signed))).code, "OK");
  const taken = await node.receipts(operator.id, signed.validStart);
  assert.equal(taken.status, "SUCCESS");
  assert.equal(Number(taken.receipt.topicSequenceNumber), 1);
});

test("chunk information that does not fit its transaction fails at consensus", async () => {
  const wrong = draft();
  const accountID = { accountNum: int64(Number(operator.id.slice(4))) };
  const start = { seconds: int64(1), nanos: 0 };
  const chunkInfo = {
    initialTransactionID: { accountID, transactionValidStart: start },
    number: 1,
    total: 1,
  };
  const consensusSubmitMessage = { ...wrong.body.consensusSubmitMessage, chunkInfo };
  await node.send(transactionBytes({ ...wrong, body: { consensusSubmitMessage } }));
  const { status } = await node.receipts(operator.id, wrong.validStart);
  assert.equal(status, "INVALID_CHUNK_TRANSACTION_ID");
});

test("a topic is created with its keys, and an admin key must sign for it", async () => {
  const admin = await newHolder(hedera);
  const adminKey = hapi.proto.Key.decode(ed25519Key(admin.publicKey));
  const consensusCreateTopic = { adminKey, autoRenewPeriod: { seconds: int64(7_890_000) } };
  const unsigned = draft({ body: { consensusCreateTopic } });
  assert.equal((await node.send(transactionBytes(unsigned), "createTopic")).code, "OK");
  assert.equal((await node.receipts(operator.id, unsigned.validStart)).status, "INVALID_SIGNATURE");
  const signed = draft({ body: { consensusCreateTopic }, signers: [operator, admin] });
  assert.equal((await node.send(transactionBytes(signed), "createTopic")).code, "OK");
  const { receipt } = await node.receipts(operator.id, signed.validStart);
  const { body } = await network.get(`/topics/0.0.${receipt.topicID?.topicNum}`);
  assert.deepEqual(body.admin_key, { _type: "ED25519", key: admin.publicKey.toString("hex") });
  assert.equal(body.submit_key, null);
});

test("an unknown id is RECEIPT_NOT_FOUND, and every receipt is 180 seconds later", async () => {
  const never = nanosOfMs(clock.ms) - 11n * SECOND;
  assert.equal((await node.receipts(operator.id, never)).header, "RECEIPT_NOT_FOUND");
  const given = draft();
  await node.send(transactionBytes(given));
  assert.equal((await settledReceipts(given, 1)).status, "SUCCESS");
  clock.ms += 179_000;
  assert.equal((await node.receipts(operator.id, given.validStart)).status, "SUCCESS");
  clock.ms += 2_000;
  assert.equal((await node.receipts(operator.id, given.validStart)).header, "RECEIPT_NOT_FOUND");
  // And the id can never be used again: by then it has expired.
  assert.equal((await node.send(transactionBytes(given))).code, "TRANSACTION_EXPIRED");
});

async function messageCount(): Promise<number> {
  const { body } = await network.get(`/topics/${open}/messages?order=desc&limit=1`);
  return body.messages[0].sequence_number;
}

function mirrorId({ payer, validStart }: Draft): string {
  return mirrorTransactionId({ payer: payer.id, validStart });
}

/** Receipts, as soon as a transaction has so many outcomes. */
async function settledReceipts(given: Draft, outcomes: number) {
  for (;;) {
    const found = await node.receipts(given.payer.id, given.validStart);
    if (found.status !== "UNKNOWN" && found.duplicates.length >= outcomes - 1) return found;
  }
}

test.run();
