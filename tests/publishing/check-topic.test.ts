/**
 * Goal: a topic is refused for what the mirror node says of it, and never for what the mirror node
 * lacks. Method: mirror nodes that know the topic, its messages, or neither.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { ConfigurationError } from "../../src/config.ts";
import { MirrorError } from "../../src/ledger/mirror/error.ts";
import type { MirrorTopic, MirrorTopicMessage } from "../../src/ledger/mirror/schemas.ts";
import { silentLogger } from "../../src/log.ts";
import { checkTopic, type TopicCheck } from "../../src/publishing/check-topic.ts";

const KEY = { _type: "ED25519", key: "00".repeat(32) } as const;
const TOPIC: MirrorTopic = {
  topicId: "0.0.7001",
  adminKey: null,
  submitKey: KEY,
  feeScheduleKey: null,
  customFees: 0,
  memo: "",
  deleted: false,
};

function check(knows: { topic?: MirrorTopic; messages?: number }, waits: string[] = []) {
  const messages = Array.from({ length: knows.messages ?? 0 }, () => ({}) as MirrorTopicMessage);
  const log = Object.assign(Object.create(silentLogger), {
    info: (_: unknown, message: string) => void waits.push(message),
  });
  const parts: TopicCheck = {
    mirror: {
      topic: async () => knows.topic ?? null,
      topicMessages: async () => ({ messages, more: false }),
    },
    topic: { publicKey: KEY },
    log,
    patienceMs: 0,
  };
  return checkTopic(parts, { topicId: TOPIC.topicId, setting: "EVENT_VOTES_TOPIC_ID" });
}

test("a topic that only its operator can write to, free of charge, is fit", () =>
  check({ topic: TOPIC }));

for (const [why, topic] of [
  ["is deleted", { ...TOPIC, deleted: true }],
  ["has no submit key", { ...TOPIC, submitKey: null }],
  ["charges custom fees", { ...TOPIC, customFees: 1 }],
] as const) {
  test(`a topic that ${why} is refused`, () =>
    assert.rejects(
      check({ topic }),
      (error) => error instanceof ConfigurationError && error.message.includes(why),
    ));
}

test("a mirror node without its topic route does not make a topic missing that has messages", () =>
  assert.rejects(
    check({ messages: 1 }),
    (error) => error instanceof MirrorError && /Java part/.test(error.message),
  ));

test("a topic of which the mirror node knows nothing at all is refused, in words that are true", () =>
  assert.rejects(
    check({}),
    (error) =>
      error instanceof ConfigurationError &&
      /is not known to the mirror node, nor any message of it/.test(error.message),
  ));

test("the wait for a new topic is said", async () => {
  const waits: string[] = [];
  const knows: { topic?: MirrorTopic } = {};
  const log = Object.assign(Object.create(silentLogger), {
    info: (_: unknown, message: string) => {
      waits.push(message);
      knows.topic = TOPIC;
    },
  });
  await checkTopic(
    {
      mirror: {
        topic: async () => knows.topic ?? null,
        topicMessages: async () => ({ messages: [], more: false }),
      },
      topic: { publicKey: KEY },
      log,
    },
    { topicId: TOPIC.topicId, setting: "EVENT_VOTES_TOPIC_ID" },
  );
  assert.deepEqual(waits, ["waiting for the mirror node to know the topic"]);
});

test.run();
