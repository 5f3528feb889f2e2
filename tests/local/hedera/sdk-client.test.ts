// alone: it ends its process, which the timers of the SDK would keep.
import * as assert from "node:assert/strict";
import { sign } from "node:crypto";
import {
  AccountBalanceQuery,
  AccountId,
  Client,
  Hbar,
  PrecheckStatusError,
  PublicKey,
  ReceiptStatusError,
  Status,
  Timestamp,
  TopicCreateTransaction,
  TopicMessageSubmitTransaction,
  Transaction,
  TransactionId,
  TransactionReceiptQuery,
} from "@hashgraph/sdk";
import { test } from "uvu";
import type { ConsensusFault } from "../../support/node-faults.ts";
import { testNetwork } from "./network.ts";

/** The unmodified SDK client against the local network. */

const network = await testNetwork();
const { hedera, operator } = network;
const publicKey = PublicKey.fromBytesED25519(operator.publicKey);
const payer = AccountId.fromString(operator.id);
let client = newClient();
const topicId = await createTopic();

test.after(async () => {
  client.close();
  await network.close();
  // One of ten seconds for each call.
  setImmediate(() => process.exit());
});

// A client remembers which nodes failed it.
test.before.each(() => {
  client.close();
  client = newClient();
});

test.after.each(() => {
  for (const { faults } of hedera.nodes) faults.heal();
});

function newClient(): Client {
  const made = Client.forNetwork(
    Object.fromEntries(hedera.nodes.map(({ address, account }) => [address, account])),
  );
  made.setOperatorWith(payer, publicKey, async (bytes) => sign(null, bytes, operator.privateKey));
  return made.setDefaultMaxTransactionFee(new Hbar(1));
}

async function createTopic(): Promise<string> {
  const submitted = await new TopicCreateTransaction()
    .setTopicMemo("stars")
    .setSubmitKey(publicKey)
    .execute(client);
  const receipt = await submitted.getReceipt(client);
  return String(receipt.topicId);
}

let ids = 0;

/** A frozen, signed message; `nodes` are those it may be sent to. */
async function frozenMessage(text: string, nodes = 1, secondsAgo = 5): Promise<Transaction> {
  ids += 1;
  const start = new Timestamp(Math.floor(Date.now() / 1_000) - secondsAgo, ids);
  return new TopicMessageSubmitTransaction({ topicId, message: text })
    .setTransactionId(TransactionId.withValidStart(payer, start))
    .setNodeAccountIds(
      hedera.nodes.slice(0, nodes).map(({ account }) => AccountId.fromString(account)),
    )
    .setRegenerateTransactionId(false)
    .setMaxAttempts(nodes)
    .setMinBackoff(250)
    .setMaxBackoff(250)
    .setGrpcDeadline(400)
    .freezeWith(client)
    .signWithOperator(client);
}

async function receiptOf({ transactionId }: Transaction, attempts = 3) {
  if (transactionId === null) throw new Error("it has an id");
  return new TransactionReceiptQuery()
    .setTransactionId(transactionId)
    .setMaxAttempts(attempts)
    .setMaxBackoff(250)
    .execute(client);
}

function isPrecheck(status: Status): (error: unknown) => boolean {
  return (error) => error instanceof PrecheckStatusError && error.status === status;
}

async function messages(): Promise<string[]> {
  const { body } = await network.get(`/topics/${topicId}/messages?encoding=utf-8&limit=100`);
  return body.messages.map((row: { message: string }) => row.message);
}

async function inject(fault: ConsensusFault): Promise<void> {
  for (const { faults } of hedera.nodes) faults.inject(fault);
}

test("a client pings a node and asks for a balance, of any size", async () => {
  await client.ping(AccountId.fromString("0.0.3"));
  const id = await hedera.ledger.createAccount({ key: null, balance: 9_007_199_254_740_993n });
  const { hbars } = await new AccountBalanceQuery().setAccountId(id).execute(client);
  assert.equal(String(hbars.toTinybars()), "9007199254740993");
  await assert.rejects(
    new AccountBalanceQuery().setAccountId("0.0.424242").execute(client),
    isPrecheck(Status.InvalidAccountId),
  );
});

test("creates a topic with memo and submit key, which the mirror node shows", async () => {
  const { body } = await network.get(`/topics/${topicId}`);
  assert.equal(body.memo, "stars");
  assert.deepEqual(body.submit_key, { _type: "ED25519", key: operator.publicKey.toString("hex") });
  assert.equal(body.admin_key, null);
  assert.deepEqual(body.custom_fees.fixed_fees, []);
});

test("submits a message; receipt and mirror node agree on sequence number and running hash", async () => {
  const transaction = await frozenMessage("first");
  const submitted = await transaction.execute(client);
  const receipt = await submitted.getReceipt(client);
  assert.equal(receipt.status, Status.Success);
  const { body } = await network.get(`/topics/${topicId}/messages/${receipt.topicSequenceNumber}`);
  assert.equal(Buffer.from(body.message, "base64").toString(), "first");
  assert.deepEqual(
    Buffer.from(body.running_hash, "base64"),
    Buffer.from(receipt.topicRunningHash ?? []),
  );
  const { initial_transaction_id: id, number, total } = body.chunk_info;
  const [account, start] = String(transaction.transactionId).split("@");
  assert.equal(id.account_id, account);
  assert.equal(id.transaction_valid_start.replace(/\.0*/, "."), start?.replace(/\.0*/, "."));
  assert.deepEqual([number, total], [1, 1]);
});

test("a message of three chunks becomes three messages in order", async () => {
  const before = (await messages()).length;
  const text = "x".repeat(2_500);
  const sent = await new TopicMessageSubmitTransaction({ topicId, message: text }).executeAll(
    client,
  );
  for (const response of sent) await response.getReceipt(client);
  assert.equal((await messages()).slice(before).join(""), text);
});

test("frozen bytes sent again after a crash: DUPLICATE_TRANSACTION, and the receipt has the outcome", async () => {
  const bytes = (await frozenMessage("once")).toBytes();
  await Transaction.fromBytes(bytes).execute(client);
  await receiptOf(Transaction.fromBytes(bytes));
  const again = Transaction.fromBytes(bytes);
  await assert.rejects(again.execute(client), isPrecheck(Status.DuplicateTransaction));
  assert.equal((await receiptOf(again)).status, Status.Success);
  assert.equal((await messages()).filter((text) => text === "once").length, 1);
});

test("a transaction started too long ago is TRANSACTION_EXPIRED", async () => {
  const late = await frozenMessage("late", 1, 115);
  await assert.rejects(late.execute(client), isPrecheck(Status.TransactionExpired));
});

test("drop: the client goes on to another node, and the message lands once", async () => {
  hedera.nodes[0]?.faults.inject({ kind: "drop" });
  const transaction = await frozenMessage("dropped once", 3);
  await transaction.execute(client);
  assert.equal((await receiptOf(transaction)).status, Status.Success);
  assert.equal((await messages()).filter((text) => text === "dropped once").length, 1);
});

test("accept-then-drop: the client sees an error although the message landed", async () => {
  await inject({ kind: "accept-then-drop" });
  const transaction = await frozenMessage("lost answer");
  await assert.rejects(transaction.execute(client));
  for (const { faults } of hedera.nodes) faults.heal();
  assert.equal((await receiptOf(transaction)).status, Status.Success);
  assert.equal((await messages()).filter((text) => text === "lost answer").length, 1);
});

test("refuse: the precheck code arrives, and nothing is taken", async () => {
  await inject({ kind: "refuse", code: "INSUFFICIENT_PAYER_BALANCE" });
  const transaction = await frozenMessage("refused");
  await assert.rejects(transaction.execute(client), isPrecheck(Status.InsufficientPayerBalance));
  assert.equal((await messages()).includes("refused"), false);
});

test("refuse a limited number of times: the client comes through in the end", async () => {
  hedera.nodes[0]?.faults.inject({ kind: "refuse", code: "BUSY", times: 1 });
  const transaction = await frozenMessage("busy once", 3);
  await transaction.execute(client);
  assert.equal((await receiptOf(transaction)).status, Status.Success);
});

test("fail-at-consensus: accepted, and the receipt says THROTTLED_AT_CONSENSUS", async () => {
  await inject({ kind: "fail-at-consensus", code: "THROTTLED_AT_CONSENSUS" });
  const transaction = await frozenMessage("throttled");
  await transaction.execute(client);
  await assert.rejects(
    receiptOf(transaction),
    (error) => error instanceof ReceiptStatusError && error.status === Status.ThrottledAtConsensus,
  );
  assert.equal((await messages()).includes("throttled"), false);
  const id = String(transaction.transactionId)
    .replace("@", "-")
    .replace(/\.(\d+)$/, (_, nanos) => `-${nanos.padStart(9, "0")}`);
  const { body } = await network.get(`/transactions/${id}`);
  assert.equal(body.transactions[0].result, "THROTTLED_AT_CONSENSUS");
});

test("unavailable: the client goes on to another node", async () => {
  hedera.nodes[0]?.faults.inject({ kind: "unavailable" });
  const transaction = await frozenMessage("unavailable once", 3);
  await transaction.execute(client);
  assert.equal((await receiptOf(transaction)).status, Status.Success);
});

test("delay: the answer comes that much later", async () => {
  await inject({ kind: "delay", ms: 150 });
  const started = performance.now();
  await (await frozenMessage("slow", 3)).execute(client);
  assert.ok(performance.now() - started >= 150);
});

test("foreign-duplicate: a node calls DUPLICATE_TRANSACTION what no node ever took", async () => {
  await inject({ kind: "foreign-duplicate" });
  const transaction = await frozenMessage("lied about");
  await assert.rejects(transaction.execute(client), isPrecheck(Status.DuplicateTransaction));
  for (const { faults } of hedera.nodes) faults.heal();
  await assert.rejects(receiptOf(transaction, 2));
  assert.equal((await messages()).includes("lied about"), false);
});

test("faults of receipts leave submitting alone", async () => {
  await inject({ kind: "refuse", code: "RECEIPT_NOT_FOUND", calls: "receipts", times: 1 });
  const transaction = await frozenMessage("asked again", 3);
  await transaction.execute(client);
  assert.equal((await receiptOf(transaction, 5)).status, Status.Success);
});

test.run();
