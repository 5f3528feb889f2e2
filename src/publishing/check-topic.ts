import { ConfigurationError } from "../config.ts";
import type { MirrorNode } from "../ledger/mirror-node.ts";
import type { MirrorTopic } from "../ledger/mirror-schemas.ts";
import type { Topic } from "../ledger/topic.ts";
import type { Logger } from "../log.ts";

interface TopicToCheck {
  readonly topicId: string;
  /** The setting that names it, for the message. */
  readonly setting: string;
}

/** A topic just made is seen by mirror nodes some seconds later. */
const NEW_TOPIC_PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 500;
/** A start does not wait long for a mirror node that is away. */
const READ = { deadlineMs: 3_000 } as const;

/**
 * Looks a topic up at the mirror node: only one that nobody else can write to, and that
 * charges nothing of its own, can carry stars.
 *
 * @throws ConfigurationError when the mirror node says that it is another kind of topic, or none
 * @throws MirrorError when the mirror node cannot be asked
 */
export async function checkTopic(
  parts: {
    readonly mirror: Pick<MirrorNode, "topic">;
    readonly topic: Pick<Topic, "publicKey">;
    readonly log: Logger;
  },
  { topicId, setting }: TopicToCheck,
): Promise<void> {
  const patience = performance.now() + NEW_TOPIC_PATIENCE_MS;
  let found = await parts.mirror.topic(topicId, READ);
  while (found === null && performance.now() < patience) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    found = await parts.mirror.topic(topicId, READ);
  }
  const refuse = (why: string): never => {
    throw new ConfigurationError(`${setting} ${topicId} ${why}`);
  };
  if (found === null) return refuse("does not exist at the mirror node");
  if (found.deleted) refuse("is deleted");
  if (found.submitKey === null) refuse("has no submit key: anyone could write stars to it");
  if (found.customFees > 0) refuse("charges custom fees for each message");
  warn(parts, found);
}

/** What is unwise but works, or will be refused by the ledger itself. */
function warn(
  { topic, log }: { readonly topic: Pick<Topic, "publicKey">; readonly log: Logger },
  found: MirrorTopic,
): void {
  const { topicId } = found;
  const { submitKey } = found;
  if (submitKey?._type !== topic.publicKey._type || submitKey.key !== topic.publicKey.key) {
    log.warn({ topicId }, "the topic's submit key is not the operator's own key");
  }
  if (found.adminKey !== null)
    log.warn({ topicId }, "the topic has an admin key: it can be deleted");
  if (found.feeScheduleKey !== null) log.warn({ topicId }, "fees may be put on the topic later");
}
