import * as assert from "node:assert/strict";
import { suite } from "uvu";
import type { Topic, TopicMessage } from "../../src/ledger/topic.ts";
import type { SendFault } from "../support/fake-topic.ts";

/** A ledger whose topic is held to the contract. */
export interface TopicHarness {
  readonly topic: Topic;
  readonly topicId: string;
  /** The ledger's time, nanoseconds. */
  now(): bigint;
  /** The messages of the topic, and the running hash after each, in order. */
  messages(): Promise<readonly { readonly text: string; readonly runningHash: string }[]>;
  /** Strikes the next transaction handed in, to whichever node. */
  fault(fault: SendFault): void;
  close(): Promise<void>;
}

const SECOND = 1_000_000_000n;

/** What publishing relies on, of the real ledger and of the one in memory alike. */
export function topicContract(name: string, open: () => Promise<TopicHarness>): void {
  const test = suite(`topic contract: ${name}`);
  let harness: TopicHarness;
  let nanos = 0n;
  test.before.each(async () => {
    harness = await open();
  });
  test.after.each(() => harness.close());

  const given = (message: string, startIn = -10n): TopicMessage => ({
    topicId: harness.topicId,
    message,
    memo: "a memo",
    validStart: harness.now() + startIn * SECOND + nanos++,
  });
  const texts = async (): Promise<readonly string[]> =>
    (await harness.messages()).map(({ text }) => text);

  test("what is prepared is sent as it is, under the id that was asked for", async () => {
    const message = given('{"a":"ü"}');
    const prepared = await harness.topic.prepareMessage(message);
    assert.equal(prepared.validUntil, message.validStart + 120n * SECOND);
    const start = `${message.validStart / SECOND}.${String(message.validStart % SECOND).padStart(9, "0")}`;
    assert.equal(prepared.transactionId, `${harness.topic.payer}@${start}`);
    assert.deepEqual(await texts(), []);
    assert.deepEqual(await harness.topic.send(prepared.signedBytes), { kind: "accepted" });
    const receipt = await settled(harness.topic, prepared.transactionId);
    const [said] = await harness.messages();
    assert.equal(said?.text, '{"a":"ü"}');
    assert.deepEqual(receipt, {
      kind: "success",
      sequenceNumber: 1,
      runningHash: said?.runningHash,
      topicId: null,
    });
  });

  test("the same bytes again are a DUPLICATE, and the receipt is still that of the first", async () => {
    const { signedBytes, transactionId } = await harness.topic.prepareMessage(given("once"));
    await harness.topic.send(signedBytes);
    const first = await settled(harness.topic, transactionId);
    assert.deepEqual(await harness.topic.send(signedBytes), {
      kind: "refused",
      status: "DUPLICATE_TRANSACTION",
      refusal: "duplicate",
    });
    assert.deepEqual(await harness.topic.receipt(transactionId), first);
    assert.deepEqual(await texts(), ["once"]);
  });

  test("a lost answer is unknown, and the message is there", async () => {
    const { signedBytes, transactionId } = await harness.topic.prepareMessage(given("landed"));
    harness.fault({ kind: "answer lost" });
    assert.equal((await harness.topic.send(signedBytes)).kind, "unknown");
    assert.equal((await settled(harness.topic, transactionId)).kind, "success");
    assert.deepEqual(await texts(), ["landed"]);
  });

  test("an unanswered transaction is unknown, and may be sent again", async () => {
    const { signedBytes, transactionId } = await harness.topic.prepareMessage(given("later"));
    harness.fault({ kind: "dropped" });
    assert.equal((await harness.topic.send(signedBytes)).kind, "unknown");
    assert.equal((await harness.topic.receipt(transactionId)).kind, "unknown");
    assert.deepEqual(await harness.topic.send(signedBytes), { kind: "accepted" });
    assert.equal((await settled(harness.topic, transactionId)).kind, "success");
  });

  for (const [status, refusal] of [
    ["BUSY", "busy"],
    ["PLATFORM_TRANSACTION_NOT_CREATED", "busy"],
    ["INSUFFICIENT_PAYER_BALANCE", "configuration"],
    ["INSUFFICIENT_TX_FEE", "configuration"],
  ] as const) {
    test(`a refusal follows from its status: ${status} is ${refusal}`, async () => {
      const { signedBytes } = await harness.topic.prepareMessage(given("refused"));
      harness.fault({ kind: "refused", status });
      const outcome = await harness.topic.send(signedBytes);
      assert.deepEqual(outcome, { kind: "refused", status, refusal });
      assert.deepEqual(await texts(), []);
    });
  }

  test("an id ahead of the ledger's time is early, one too far behind is expired", async () => {
    const early = await harness.topic.prepareMessage(given("early", 60n));
    assert.deepEqual(await harness.topic.send(early.signedBytes), {
      kind: "refused",
      status: "INVALID_TRANSACTION_START",
      refusal: "early",
    });
    const expired = await harness.topic.prepareMessage(given("expired", -200n));
    assert.deepEqual(await harness.topic.send(expired.signedBytes), {
      kind: "refused",
      status: "TRANSACTION_EXPIRED",
      refusal: "expired",
    });
  });

  test("a failure at consensus stands in the receipt, under the same id and no other", async () => {
    const { signedBytes, transactionId } = await harness.topic.prepareMessage(given("throttled"));
    harness.fault({ kind: "failed", status: "THROTTLED_AT_CONSENSUS" });
    assert.deepEqual(await harness.topic.send(signedBytes), { kind: "accepted" });
    assert.deepEqual(await settled(harness.topic, transactionId), {
      kind: "failed",
      status: "THROTTLED_AT_CONSENSUS",
      refusal: "busy",
    });
    assert.deepEqual(await texts(), []);
  });

  test("a receipt of a copy, DUPLICATE_TRANSACTION, says nothing of the first one", async () => {
    const { signedBytes, transactionId } = await harness.topic.prepareMessage(given("copied"));
    harness.fault({ kind: "failed", status: "DUPLICATE_TRANSACTION" });
    assert.deepEqual(await harness.topic.send(signedBytes), { kind: "accepted" });
    for (let asked = 0; asked < 20; asked++) {
      assert.equal((await harness.topic.receipt(transactionId)).kind, "unknown");
    }
  });

  test("a message that is empty or needs two chunks is refused before it is signed", async () => {
    await assert.rejects(harness.topic.prepareMessage(given("")), RangeError);
    await assert.rejects(harness.topic.prepareMessage(given("ü".repeat(513))), RangeError);
    await harness.topic.prepareMessage(given("x".repeat(1_024)));
  });

  test.run();
}

/** Asks until there is a receipt; the fake needs no time, the network a few milliseconds. */
async function settled(topic: Topic, transactionId: string) {
  for (let asked = 0; asked < 50; asked++) {
    const outcome = await topic.receipt(transactionId);
    if (outcome.kind !== "unknown") return outcome;
  }
  throw new Error(`no receipt of ${transactionId}`);
}
