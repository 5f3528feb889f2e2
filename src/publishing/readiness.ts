import { ConfigurationError } from "../config.ts";
import type { MirrorNode } from "../ledger/mirror/node.ts";
import type { Topic } from "../ledger/topic.ts";
import type { Sql } from "../store/postgres.ts";
import {
  checkTopic,
  refuseSwapped,
  TOPIC_SETTINGS as SETTINGS,
  unfitBecause,
} from "./check-topic.ts";
import { beginReading, findReading } from "./confirm.ts";
import { TOPIC_KINDS, type TopicKind } from "./context.ts";
import type { PublishingAlerts } from "./publishing-alerts.ts";

const LOOK_AGAIN_MS = 10_000;
const LOOK = { deadlineMs: 2_000, background: true } as const;

/** Finds out which topics may be sent to. */
export function createReadiness(parts: {
  readonly sql: Sql;
  readonly mirror: Pick<MirrorNode, "topic" | "topicMessages">;
  readonly topic: Pick<Topic, "publicKey">;
  readonly topics: Readonly<Record<TopicKind, string>>;
  readonly alerts: PublishingAlerts;
}) {
  const { sql, topics, alerts } = parts;
  const { log } = alerts;
  const ready = new Set<TopicKind>();
  const unchecked = new Set<TopicKind>(TOPIC_KINDS);
  const reported = new Set<TopicKind>();
  /** Why a topic is not used, until it is found fit again. */
  const unfit = new Map<TopicKind, ConfigurationError>();

  const refuse = (kind: TopicKind, error: ConfigurationError): never => {
    ready.delete(kind);
    unfit.set(kind, error);
    throw error;
  };
  const checkOne = async (kind: TopicKind): Promise<void> => {
    const topicId = topics[kind];
    await refuseSwapped(sql, { [kind]: topicId }).catch((error: unknown) => {
      if (error instanceof ConfigurationError) refuse(kind, error);
      throw error;
    });
    // Web processes begin to read a topic without judging it: a message read is what counts.
    const reading = await findReading(sql, topicId);
    if (reading !== undefined && reading.sequenceNumber > 0 && !unfit.has(kind)) ready.add(kind);
    try {
      await checkTopic({ ...parts, log }, { topicId, setting: SETTINGS[kind] });
    } catch (error) {
      if (error instanceof ConfigurationError) refuse(kind, error);
      // What was wrong with it stands.
      const known = unfit.get(kind);
      if (known !== undefined) throw known;
      // Logged once, tried with every sweep.
      if (!reported.has(kind))
        log.warn({ err: error, topicId }, "the topic could not be looked up");
      reported.add(kind);
      return;
    }
    await beginReading(sql, topicId);
    ready.add(kind);
    unfit.delete(kind);
    unchecked.delete(kind);
  };

  let lookAgainAt = 0;
  /** Topics can change while stars are sent to them. What the mirror node lacks changes nothing. */
  const lookAgain = async (): Promise<void> => {
    if (performance.now() < lookAgainAt) return;
    lookAgainAt = performance.now() + LOOK_AGAIN_MS;
    await Promise.all(
      [...ready].map(async (kind) => {
        const found = await parts.mirror.topic(topics[kind], LOOK).catch(() => null);
        const fault = found === null ? undefined : unfitBecause(found);
        if (fault === undefined) return;
        ready.delete(kind);
        unchecked.add(kind);
        const setting = SETTINGS[kind];
        unfit.set(kind, new ConfigurationError(`${setting} ${topics[kind]} ${fault}`));
      }),
    );
  };

  return {
    isReady: (kind: TopicKind): boolean => ready.has(kind),
    /**
     * Checks each topic that this process has not found fit yet, and the others every 10 s. While the
     * mirror node is away, a topic that an earlier process found fit is used; any other waits.
     *
     * @throws ConfigurationError when a topic is not fit for stars; it is used no more
     */
    async check(): Promise<void> {
      if (topics.event === topics.asset) {
        throw new ConfigurationError(`${SETTINGS.event} and ${SETTINGS.asset} are the same topic`);
      }
      await lookAgain();
      await Promise.all([...unchecked].map(checkOne));
    },
  };
}
