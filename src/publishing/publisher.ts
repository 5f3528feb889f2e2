import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { bulkhead } from "cockatiel";
import { bounds } from "../bounds.ts";
import { ConfigurationError } from "../config.ts";
import { failpoint as armed } from "../failpoint.ts";
import type { OneNode } from "../ledger/mirror/limits.ts";
import type { MirrorNode } from "../ledger/mirror/node.ts";
import type { Topic } from "../ledger/topic.ts";
import { parseTimestamp } from "../ledger/transaction-id.ts";
import { type Logger, oncePerOutage } from "../log.ts";
import { every, type Service } from "../service.ts";
import type { EpochWitness } from "../store/database-identity.ts";
import type { Sql } from "../store/postgres.ts";
import { bound } from "../tracing.ts";
import { reportAlarms } from "./alarms.ts";
import {
  type PublishContext,
  type PublisherContext,
  TOPIC_KINDS,
  type TopicKind,
  wait,
} from "./context.ts";
import { createDrain } from "./drain.ts";
import { behindDetail, countLost } from "./journal-behind.ts";
import { createLedgerClock, type LedgerClock } from "./ledger-clock.ts";
import { openOutbox, pendingPublications, releaseAllLeases, tookEffectAfter } from "./outbox.ts";
import { createPublishingAlerts, type PublishingMetrics } from "./publishing-alerts.ts";
import { createReadiness } from "./readiness.ts";
import { createSendGate } from "./send-gate.ts";
import { followTopic, type TopicFollower } from "./topic-follower.ts";
import { createTopicKnowledge, type TopicKnowledge } from "./topic-knowledge.ts";

/** What a publisher uses; closing the publisher closes none of it. */
export interface PublisherParts {
  readonly sql: Sql;
  readonly witness: EpochWitness;
  readonly topic: Topic;
  readonly mirror: MirrorNode;
  readonly topics: Readonly<Record<TopicKind, string>>;
  /** Wakes the publisher when stars were accepted; without a call it looks by itself. */
  readonly queue: { onWake(handler: () => void): void };
  readonly log: Logger;
  readonly metrics: PublishingMetrics;
  readonly leaseMs?: number;
  readonly sweepEveryMs?: number;
  /** What alarms are timed by; `performance.now()` when absent. */
  readonly now?: () => number;
  readonly clock?: LedgerClock;
  readonly failpoint?: PublishContext["failpoint"];
}

/** Publishes every accepted star, exactly once, for as long as it lives. */
export type Publisher = Awaited<ReturnType<typeof startPublisher>>;

/** What the alarm is about when a topic turns out to be no topic for stars. */
const UNFIT = "settings";
/** A start does not wait long for a mirror node that is away, nor for a long topic. */
const MIRROR_PATIENCE_MS = 3_000;
/** A journal that went back in time is found so soon. */
const KNOW_EVERY_MS = 2_000;

/**
 * Starts publishing. Any number of publishers may work on one outbox. Redis, Postgres, the
 * mirror node and the ledger may go and come back at any time, without an operator.
 *
 * @throws ConfigurationError when the mirror node says that a topic is not fit for stars
 */
export async function startPublisher(parts: PublisherParts) {
  const { sql, witness, topics, log } = parts;
  const closing = new AbortController();
  // Every star in hand listens, and not one more.
  setMaxListeners(bounds.publishBatchMax, closing.signal);
  const alerts = createPublishingAlerts(log, parts.metrics, parts.now);
  const { context, followers } = compose(parts, alerts, closing.signal);
  const readiness = createReadiness({ ...parts, alerts });
  const { isReady } = readiness;
  const knowledge = createTopicKnowledge({ ...context, sql, witness, topics, isReady });
  const drain = createDrain(context, (kind) => (isReady(kind) ? knowledge.of(kind) : undefined));
  await Promise.all([readiness.check(), learnLedgerTime(context)]);
  const knowing = keepKnowing(knowledge, { ...context, onLook: drain.soon });
  await Promise.race([knowing.firstLook, delay(MIRROR_PATIENCE_MS)]);

  const look = async (): Promise<void> => {
    await readiness.check().then(
      () => alerts.clear("configuration", UNFIT),
      (error: unknown) => {
        if (!(error instanceof ConfigurationError)) throw error;
        alerts.raise("configuration", error.message, UNFIT);
      },
    );
    await openCuredGates(context);
    try {
      alerts.pending(await pendingPublications(sql));
    } finally {
      // Also where millions wait, which cannot be counted in a statement's time.
      if (!closing.signal.aborted) await reportAlarms(sql, context.outbox.holder, alerts.raised());
    }
  };
  const sweep = async (): Promise<void> => {
    await context.failpoint("sweep.scan");
    drain.soon();
    await context.failpoint("sweep.enqueued");
  };
  // Two of them: while a look waits for the mirror node, stars that are due are still taken.
  const sweeping = [sweep, look].map((work) =>
    every(parts.sweepEveryMs ?? bounds.sweepEveryMs, work, {
      onFailure: () => alerts.failed("sweep"),
    }),
  );
  parts.queue.onWake(() => drain.soon());
  // Another process may have left messages on their way, and stars that wait.
  for (const follower of followers) follower.poke();
  drain.soon();

  return {
    /**
     * Reads every topic that may be sent to up to its end, also while nothing is awaited.
     *
     * @returns the topics
     * @throws MirrorError, or RetryableError when Postgres is away
     */
    async readTopics(): Promise<readonly string[]> {
      const kinds = TOPIC_KINDS.filter(isReady);
      await Promise.all(kinds.map((kind) => context.readToEnd(topics[kind])));
      return kinds.map((kind) => topics[kind]);
    },
    /** Finishes the steps in hand and releases everything else for others. */
    async close(): Promise<void> {
      closing.abort();
      // They end by themselves: a look may wait long for the mirror node, and reports nothing any more.
      for (const each of sweeping) void each.close();
      const inHand = Promise.all([
        drain.idle(),
        ...[knowing, ...followers].map((each) => each.close()),
      ]);
      await Promise.race([inHand, delay(bounds.drainMs, undefined, { ref: false })]);
      await reportAlarms(sql, context.outbox.holder, []).catch(() => undefined);
      await releaseAllLeases(context.outbox).catch((error: unknown) =>
        log.warn({ err: error }, "leases were not given back; they run out by themselves"),
      );
      log.info({ topics }, "publishing stopped");
    },
  };
}

/** Looks at the database, and reads the topics where it must, for as long as the publisher lives. */
function keepKnowing(
  knowledge: TopicKnowledge,
  { outbox, alerts, onLook }: Pick<PublisherContext, "outbox" | "alerts"> & { onLook: () => void },
): Service & { readonly firstLook: Promise<void> } {
  const blind = oncePerOutage(alerts.log, "the topics are not known");
  const look = async (): Promise<void> => {
    await knowledge.check().then(blind.over, blind.failed);
    onLook();
    const lost = await countLost(outbox.sql);
    if (lost === 0) return alerts.clear("journal-behind");
    alerts.raise("journal-behind", behindDetail(lost));
    await reportAlarms(outbox.sql, outbox.holder, alerts.raised());
  };
  let looked = (): void => undefined;
  const firstLook = new Promise<void>((resolve) => {
    looked = resolve;
  });
  const repeating = every(KNOW_EVERY_MS, () => look().finally(looked), {
    firstAfterMs: 0,
    onFailure: () => alerts.failed("database"),
  });
  return { firstLook, close: repeating.close };
}

/** What cures the configuration for one worker cures it for all, also when no star is left to probe. */
async function openCuredGates({ outbox, clock, lanes }: PublisherContext): Promise<void> {
  for (const { topicId, gate } of Object.values(lanes)) {
    const agoMs = gate.sinceFailureMs();
    if (agoMs === undefined) continue;
    const failedAt = clock.now() - BigInt(Math.floor(agoMs)) * 1_000_000n;
    if (await tookEffectAfter(outbox.sql, topicId, failedAt)) gate.tookEffect();
  }
}

function compose(
  parts: PublisherParts,
  alerts: PublishContext["alerts"],
  closing: AbortSignal,
): { readonly context: PublisherContext; readonly followers: readonly TopicFollower[] } {
  const { sql, topic, mirror, topics, leaseMs = bounds.publishLeaseMs } = parts;
  // Armed or not is asked at each passing: arming may come later than the publisher.
  const { clock = createLedgerClock(), failpoint = (name) => armed?.(name) } = parts;
  const room = bulkhead(bounds.publishInFlightMax, 2 * bounds.publishBatchMax);
  const follow = (topicId: string, kind: TopicKind): TopicFollower =>
    followTopic({
      sql,
      mirror,
      clock,
      wait,
      failpoint,
      topicId,
      payer: topic.payer,
      onVerdict: (verdict) => alerts.announce(kind, verdict),
      onConfirmLag: alerts.confirmedAfter,
      onFailure: (error) => alerts.log.debug({ err: error, topicId }, "the topic was not read"),
    });
  const openLane = (kind: TopicKind) => ({
    topicId: topics[kind],
    gate: createSendGate({
      now: () => performance.now(),
      onShut(obstacle, detail) {
        alerts.log.warn({ topicId: topics[kind], obstacle }, `sending rests: ${detail}`);
        if (obstacle === "configuration") alerts.raise(obstacle, detail, topics[kind]);
      },
      onOpen() {
        alerts.log.info({ topicId: topics[kind] }, "sending goes on");
        alerts.clear("configuration", topics[kind]);
      },
    }),
    follower: follow(topics[kind], kind),
  });
  const lanes = { event: openLane("event"), asset: openLane("asset") };
  const context = {
    outbox: openOutbox(sql, { holder: randomUUID(), leaseMs }),
    topic,
    mirror,
    clock,
    lanes,
    async readToEnd(topicId: string, oneNode?: OneNode) {
      const lane = Object.values(lanes).find((each) => each.topicId === topicId);
      const isWhole = await (lane?.follower ?? follow(topicId, "event")).readToEnd(oneNode);
      if (!closing.aborted) alerts.topicRead(topicId, isWhole);
      return isWhole;
    },
    call: <T>(request: () => Promise<T>) => room.execute(bound(request)),
    wait,
    closing,
    random: Math.random,
    failpoint,
    alerts,
  };
  return { context, followers: TOPIC_KINDS.map((kind) => lanes[kind].follower) };
}

/** So that a machine whose clock is late does not waste its first ids. */
async function learnLedgerTime({ mirror, clock, alerts }: PublisherContext): Promise<void> {
  try {
    const block = await mirror.newestBlock({ deadlineMs: MIRROR_PATIENCE_MS });
    if (block !== null) clock.sawConsensus(parseTimestamp(block.to));
  } catch (error) {
    alerts.log.warn({ err: error }, "the mirror node is away; publishing starts without it");
  }
}
