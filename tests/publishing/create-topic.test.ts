/**
 * Goal: a topic is made though the machine's clock is wrong, and never twice. Method: a ledger in
 * memory, and clocks that are ahead of it and behind it.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import type { Topic } from "../../src/ledger/topic.ts";
import { createTopic } from "../../src/publishing/create-topic.ts";
import { createLedgerClock } from "../../src/publishing/ledger-clock.ts";
import { FakeLedger } from "../support/fake-topic.ts";

const SECOND = 1_000_000_000n;

/** Topics of a ledger, each named by the transaction that made it. */
function topicsOf(ledger: FakeLedger): Topic {
  const topic = ledger.topic();
  return {
    ...topic,
    async receipt(transactionId) {
      const receipt = await topic.receipt(transactionId);
      return receipt.kind === "success" ? { ...receipt, topicId: transactionId } : receipt;
    },
  };
}

for (const [name, ahead] of [
  ["right", 0n],
  ["an hour ahead", 3_600n],
  ["an hour behind", -3_600n],
] as const) {
  test(`with a clock that is ${name}, two topics are made, one transaction each`, async () => {
    const ledger = new FakeLedger();
    const clock = createLedgerClock(() => ledger.now + ahead * SECOND);
    const made = [
      await createTopic(topicsOf(ledger), { memo: "one", clock }),
      await createTopic(topicsOf(ledger), { memo: "two", clock }),
    ];
    assert.deepEqual(
      made,
      ledger.effects.map(({ transactionId }) => transactionId),
    );
  });
}

for (const status of ["INVALID_TRANSACTION_START", "INSUFFICIENT_PAYER_BALANCE"]) {
  test(`an id that may have been taken stays the only one, also where ${status} follows`, async () => {
    const ledger = new FakeLedger();
    ledger.sendFaults.push({ kind: "answer lost" }, { kind: "refused", status });
    const topic = topicsOf(ledger);
    const asked: string[] = [];
    const slowReceipt: Topic = {
      ...topic,
      receipt: async (id) => (asked.push(id) < 3 ? { kind: "unknown" } : topic.receipt(id)),
    };
    const clock = createLedgerClock(() => ledger.now);
    const made = await createTopic(slowReceipt, { memo: "one", clock });
    assert.deepEqual(
      ledger.effects.map(({ transactionId }) => transactionId),
      [made],
    );
  });
}

test("a refusal that only an operator can cure is shown at once", async () => {
  const ledger = new FakeLedger();
  ledger.sendFaults.push({ kind: "refused", status: "INVALID_SIGNATURE" });
  const clock = createLedgerClock(() => ledger.now);
  await assert.rejects(
    createTopic(topicsOf(ledger), { memo: "one", clock }),
    /refused to make the topic: INVALID_SIGNATURE$/,
  );
  assert.equal(ledger.sends, 1);
});

for (const [name, answers, triesMin, triesMax] of [
  ["that never answer are not asked for a minute", [], 1, 3],
  ["that have answered once are waited for longer", ["BUSY"], 4, 10],
] as const) {
  test(`nodes ${name}`, async () => {
    const ledger = new FakeLedger();
    ledger.receiptsAway = true;
    ledger.sendFaults.push(
      ...answers.map((status) => ({ kind: "refused", status }) as const),
      ...Array.from({ length: 20 }, () => ({ kind: "dropped" }) as const),
    );
    const topic = ledger.topic();
    const { now } = performance;
    let waitedMs = 0;
    performance.now = () => now.call(performance) + waitedMs;
    const waiting: Topic = {
      ...topic,
      send: (bytes) => topic.send(bytes).finally(() => (waitedMs += 12_000)),
    };
    const clock = createLedgerClock(() => ledger.now);
    try {
      await assert.rejects(
        createTopic(waiting, { memo: "one", clock }),
        /^Error: the ledger did not say in time whether 0\.0\.1002@\S+ made a topic: /,
      );
    } finally {
      performance.now = now;
    }
    assert.ok(ledger.sends >= triesMin && ledger.sends <= triesMax, String(ledger.sends));
  });
}

test.run();
