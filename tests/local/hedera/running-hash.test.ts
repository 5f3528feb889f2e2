import * as assert from "node:assert/strict";
import { test } from "uvu";
import { nanosOfMs, SECOND } from "../../../src/local/hedera/timestamps.ts";
import { hapiClient, submitMessage, transactionBytes } from "./hapi-client.ts";
import { testNetwork } from "./network.ts";
import { brokenLinks, readTopic } from "./topic-chain.ts";

const network = await testNetwork();
const { hedera, operator } = network;

test.after(() => network.close());

test("the running-hash chain of two topics is recomputed from REST rows alone", async () => {
  const [node] = hedera.nodes;
  if (node === undefined) throw new Error("there is a node");
  const client = hapiClient(node.address);
  const topics = [await hedera.ledger.createTopic({}), await hedera.ledger.createTopic({})];
  const start = nanosOfMs(Date.now()) - 10n * SECOND;
  const count = 150;
  const sent = Array.from({ length: count }, async (_, index) => {
    const body = submitMessage(topics[index % 2] ?? "", Buffer.from(`message ${index}`));
    const draft = { payer: operator, node: node.account, validStart: start + BigInt(index), body };
    assert.equal((await client.send(transactionBytes(draft))).code, "OK");
    assert.equal((await client.receipts(operator.id, draft.validStart)).status, "SUCCESS");
  });
  await Promise.all(sent);
  client.close();
  for (const topic of topics) {
    const rows = await readTopic(hedera.mirrorUrl, topic);
    assert.equal(rows.length, count / 2);
    assert.deepEqual(brokenLinks(rows), []);
    // The check itself can fail: one message changed breaks its link.
    const [first, ...others] = rows;
    assert.deepEqual(
      brokenLinks([{ ...first, message: "Zm9yZ2Vk" } as (typeof rows)[0], ...others]),
      [1],
    );
    assert.deepEqual(brokenLinks(others).includes(2), true);
  }
});

test.run();
