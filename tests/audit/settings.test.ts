/**
 * Goal: the collections' names in messages are those of the topic's first star, whatever strangers
 * or earlier services wrote there before it. Method: a topic of the test, page by page.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import type { AuditMirror } from "../../src/audit/audit-mirror.ts";
import { keysOnTopic } from "../../src/audit/replay-topic.ts";

const STAR = `{"type":"asset_vote","version":1,"wallet":"0.0.1001","target_id":"0.0.7101","target_type":"token","vote":"up","voting_power":8,"holdings":{"alpha":2,"beta":1},"timestamp":1795161600123}`;

const OTHERS = [
  "hello",
  `{"holdings":{"gold":1,"silver":2}}`,
  STAR.replace('"version":1', '"version":0').replace("alpha", "older"),
  STAR.replace("alpha", "beta"),
  STAR.replace('"beta":1', '"beta":1,"gamma":1'),
];

function topicOf(texts: readonly string[]): Pick<AuditMirror, "topicMessages"> {
  const all = texts.map((text, index) => ({
    topicId: "0.0.8002",
    sequenceNumber: index + 1,
    consensusTimestamp: `${index + 1}.000000000`,
    bytes: Buffer.from(text),
    payer: "0.0.2",
    runningHash: "",
    runningHashVersion: 3,
    chunk: null,
  }));
  return {
    async topicMessages(_, { afterSequence = 0 }) {
      const messages = all.slice(afterSequence, afterSequence + 100);
      return { messages, more: messages.length === 100 };
    },
  };
}

test("the names stand in the first star, after any number of other messages", async () => {
  const many = Array.from({ length: 250 }, (_, index) => OTHERS[index % OTHERS.length] ?? "");
  for (const before of [[], OTHERS, many]) {
    const keys = await keysOnTopic(topicOf([...before, STAR]), "0.0.8002");
    assert.deepEqual(keys, { a: "alpha", b: "beta" });
  }
});

test("a topic without a star names none", async () => {
  assert.equal(await keysOnTopic(topicOf([]), "0.0.8002"), undefined);
  assert.equal(await keysOnTopic(topicOf(OTHERS), "0.0.8002"), undefined);
});

test.run();
