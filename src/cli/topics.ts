import { defineCommand } from "citty";
import { coerceError } from "../errors.ts";
import { createHederaTopic } from "../ledger/hedera-topic.ts";
import type { Topic } from "../ledger/topic.ts";
import { createTopic } from "../publishing/create-topic.ts";
import { createLedgerClock } from "../publishing/ledger-clock.ts";
import { canLog } from "../store/operator-log.ts";
import { act, withDatabase } from "./database.ts";
import { command } from "./output.ts";
import { readCommandSettings } from "./settings.ts";

const create = command({
  description: "Create both topics: submit key the operator's, no admin key. Costs HBAR.",
  async work() {
    const settings = readCommandSettings(["HEDERA_OPERATOR_ID", "HEDERA_OPERATOR_KEY"]);
    const topic = await createHederaTopic({
      network: settings.HEDERA_NETWORK,
      nodes: settings.HEDERA_NODES,
      operatorId: settings.HEDERA_OPERATOR_ID,
      operatorKey: settings.HEDERA_OPERATOR_KEY,
    });
    try {
      return await withLines(settings.DATABASE_URL !== undefined, () => createBoth(topic));
    } finally {
      topic.close();
    }
  },
  text: ({ eventVotesTopicId, assetVotesTopicId }) =>
    `EVENT_VOTES_TOPIC_ID=${eventVotesTopicId}\nASSET_VOTES_TOPIC_ID=${assetVotesTopicId}`,
});

export const subcommand = defineCommand({ subCommands: { create } });

type Topics = Awaited<ReturnType<typeof createBoth>>;

async function createBoth(topic: Topic) {
  const clock = createLedgerClock();
  // One after the other: two ids of one instant would be the same transaction.
  const eventVotesTopicId = await createTopic(topic, { memo: "Starboard event stars", clock });
  const assetVotesTopicId = await createTopic(topic, {
    memo: "Starboard asset stars",
    clock,
  }).catch((error: unknown) => {
    const made = `EVENT_VOTES_TOPIC_ID=${eventVotesTopicId} is made and paid for`;
    throw new Error(`${coerceError(error).message}; ${made}`);
  });
  return { eventVotesTopicId, assetVotesTopicId };
}

/** Topics may be made before there is a database, and then leave no line. */
async function withLines(hasDatabase: boolean, work: () => Promise<Topics>): Promise<Topics> {
  if (!hasDatabase) return work();
  return withDatabase(async (sql) =>
    (await canLog(sql))
      ? act({ ...HOW, on: sql }, work, (details) => ({ details: { ...details } }))
      : work(),
  );
}

const HOW = { name: "topics.create", subject: "both topics" };
