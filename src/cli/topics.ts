import { defineCommand } from "citty";
import { createTopic } from "../ledger/create-topic.ts";
import { createHederaTopic } from "../ledger/hedera-topic.ts";
import { command } from "./output.ts";
import { readCommandSettings } from "./settings.ts";

const create = command({
  name: "create",
  description: "Create both topics: submit key the operator's, no admin key. Costs HBAR.",
  args: {},
  async work() {
    const settings = readCommandSettings(["HEDERA_OPERATOR_ID", "HEDERA_OPERATOR_KEY"]);
    const topic = await createHederaTopic({
      network: settings.HEDERA_NETWORK,
      nodes: settings.HEDERA_NODES,
      operatorId: settings.HEDERA_OPERATOR_ID,
      operatorKey: settings.HEDERA_OPERATOR_KEY,
    });
    try {
      // One after the other: two ids of one instant would be the same transaction.
      const eventVotesTopicId = await createTopic(topic, {
        memo: "Starboard event stars",
        nowMs: Date.now(),
      });
      const assetVotesTopicId = await createTopic(topic, {
        memo: "Starboard asset stars",
        nowMs: Date.now(),
      });
      return { eventVotesTopicId, assetVotesTopicId };
    } finally {
      topic.close();
    }
  },
  text: ({ eventVotesTopicId, assetVotesTopicId }) =>
    `EVENT_VOTES_TOPIC_ID=${eventVotesTopicId}\nASSET_VOTES_TOPIC_ID=${assetVotesTopicId}`,
});

/** `starboard topics create` */
export const topicsCommand = defineCommand({
  meta: { name: "topics", description: "The two public topics that stars are published to." },
  subCommands: { create },
});
