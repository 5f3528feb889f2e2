import { ConfigurationError } from "../config.ts";
import { MirrorError } from "../ledger/mirror/error.ts";
import type { MirrorNode } from "../ledger/mirror/node.ts";
import type { MirrorTopic } from "../ledger/mirror/schemas.ts";
import type { Topic } from "../ledger/topic.ts";
import type { Logger } from "../log.ts";
import { type runFirst, runStatement, type Sql } from "../store/postgres.ts";
import { findStarred } from "./outbox.ts";

/** The settings that name the topics, by what is starred on them. */
export const TOPIC_SETTINGS = {
  event: "EVENT_VOTES_TOPIC_ID",
  asset: "ASSET_VOTES_TOPIC_ID",
} as const;

/** A topic just made is seen by mirror nodes some seconds later. */
const NEW_TOPIC_PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 500;
const SAY_EVERY_MS = 5_000;
/** A start does not wait long for a mirror node that is away. */
const READ = { deadlineMs: 3_000 } as const;

export interface TopicCheck {
  readonly mirror: Pick<MirrorNode, "topic" | "topicMessages">;
  readonly topic: Pick<Topic, "publicKey">;
  readonly log: Logger;
  /** How long the mirror node may not know the topic; default 20 s. */
  readonly patienceMs?: number;
}

/**
 * Looks a topic up at the mirror node: only one that this service alone can write to, and that
 * charges nothing of its own, can carry stars.
 *
 * @throws ConfigurationError when the mirror node says that it is another kind of topic, or none
 * @throws MirrorError when the mirror node cannot be asked
 */
export async function checkTopic(
  parts: TopicCheck,
  { topicId, setting }: { readonly topicId: string; readonly setting: string },
): Promise<void> {
  const found = await findTopic(parts, topicId);
  const fault = unfitBecause(found);
  if (fault !== undefined) throw new ConfigurationError(`${setting} ${topicId} ${fault}`);
  if (found !== null) warn(parts, found);
}

/**
 * Holds each topic against the stars that the journal has on it. One that is not given is not asked for.
 *
 * @param run how each is asked for; a start may wait for it
 * @throws ConfigurationError where stars of the other kind are on it
 */
export async function refuseSwapped(
  sql: Sql,
  topics: Readonly<Partial<Record<keyof typeof TOPIC_SETTINGS, string | undefined>>>,
  run: typeof runFirst = runStatement,
): Promise<void> {
  for (const kind of ["event", "asset"] as const) {
    const topicId = topics[kind];
    const starred = topicId === undefined ? kind : await run(findStarred(sql, topicId));
    if (starred === undefined || starred === kind) continue;
    throw new ConfigurationError(
      `${TOPIC_SETTINGS[kind]} ${topicId} has ${starred} stars on it: are the two topics swapped?`,
    );
  }
}

/**
 * Why a topic cannot carry stars.
 *
 * @param found null where the mirror node knows nothing of it
 * @returns undefined where it can
 */
export function unfitBecause(found: MirrorTopic | null): string | undefined {
  if (found === null) {
    return "is not known to the mirror node, nor any message of it: is the id right?";
  }
  if (found.deleted) return "is deleted";
  if (found.submitKey === null) return "has no submit key: anyone could write stars to it";
  return found.customFees > 0 ? "charges custom fees for each message" : undefined;
}

/** Whether messages signed by this key alone may be written to the topic. */
export function takesMessagesOf(
  { submitKey }: MirrorTopic,
  publicKey: Topic["publicKey"],
): boolean {
  return submitKey?._type === publicKey._type && submitKey.key === publicKey.key;
}

/**
 * The topic, or null when the mirror node knows nothing of it for a while: one just made is seen
 * some seconds later. A mirror node without its Java part answers 404 for every topic, in the
 * words of a missing one, and lists its messages all the same.
 *
 * @throws MirrorError also when the mirror node has messages of a topic that it does not describe
 */
async function findTopic(
  { mirror, log, patienceMs = NEW_TOPIC_PATIENCE_MS }: TopicCheck,
  topicId: string,
): Promise<MirrorTopic | null> {
  const startedAt = performance.now();
  for (let saidAt = Number.NEGATIVE_INFINITY; ; ) {
    const found = await mirror.topic(topicId, READ);
    if (found !== null) return found;
    const { messages } = await mirror.topicMessages(topicId, { limit: 1 }, READ);
    if (messages.length > 0) {
      const why = `it has messages of ${topicId} and no route /topics/${topicId}: it lacks its Java part (REST Java)`;
      throw new MirrorError("status", why);
    }
    const now = performance.now();
    if (now - startedAt >= patienceMs) return null;
    if (now - saidAt >= SAY_EVERY_MS) {
      saidAt = now;
      log.info({ topicId }, "waiting for the mirror node to know the topic");
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** What is unwise but works, or will be refused by the ledger itself. */
function warn(
  { topic, log }: { readonly topic: Pick<Topic, "publicKey">; readonly log: Logger },
  found: MirrorTopic,
): void {
  const { topicId } = found;
  if (!takesMessagesOf(found, topic.publicKey)) {
    log.warn({ topicId }, "the topic's submit key is not the operator's own key");
  }
  if (found.adminKey !== null)
    log.warn({ topicId }, "the topic has an admin key: it can be deleted");
  if (found.feeScheduleKey !== null)
    log.warn({ topicId }, "the topic has a fee schedule key: fees can be added later");
}
