import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { bulkhead } from "cockatiel";
import { bounds, ConfigurationError } from "../config.ts";
import { failpoint as armed } from "../failpoint.ts";
import type { MirrorNode } from "../ledger/mirror-node.ts";
import type { Topic } from "../ledger/topic.ts";
import { parseTimestamp } from "../ledger/transaction-id.ts";
import type { Logger } from "../log.ts";
import type { Sql } from "../store/postgres.ts";
import { tellAlarms } from "./alarms.ts";
import { type PublishContext, TOPIC_KINDS, type TopicKind, wait } from "./context.ts";
import { createDrain } from "./drain.ts";
import { createLedgerClock, type LedgerClock } from "./ledger-clock.ts";
import { createNotices, type PublishingMetrics } from "./notices.ts";
import { layAllBack, pendingPublications } from "./outbox.ts";
import { createReadiness } from "./readiness.ts";
import { createSendGate } from "./send-gate.ts";
import { followTopic, type TopicFollower } from "./topic-follower.ts";

/** What a publisher is made from; none of it is closed with it. */
export interface PublisherParts {
  readonly sql: Sql;
  readonly topic: Topic;
  readonly mirror: MirrorNode;
  readonly topics: Readonly<Record<TopicKind, string>>;
  /** Tells when stars were accepted; without a call the publisher looks by itself. */
  readonly queue: { onWake(handler: () => void): void };
  readonly log: Logger;
  readonly metrics: PublishingMetrics;
  readonly leaseMs?: number;
  readonly sweepEveryMs?: number;
  readonly clock?: LedgerClock;
  readonly failpoint?: PublishContext["failpoint"];
}

/** Publishes every accepted star, exactly once, for as long as it lives. */
export interface Publisher {
  /** Resolves when nothing is due; what waits for the ledger or its mirror may be left. */
  drainNow(): Promise<void>;
  /**
   * Reads every topic that may be sent to up to its end, also while nothing is awaited.
   *
   * @returns the topics
   * @throws MirrorError, or RetryableError when Postgres is away
   */
  readTopics(): Promise<readonly string[]>;
  /** Finishes the steps in hand and lays everything else back for others. */
  close(): Promise<void>;
}

/** What the alarm is about when a topic turns out to be no topic for stars. */
const UNFIT = "settings";
/** A start does not wait long for a mirror node that is away. */
const MIRROR_PATIENCE_MS = 3_000;

/**
 * Starts publishing. Any number of publishers may work on one outbox. Redis, Postgres, the
 * mirror node and the ledger may go and come back at any time; nobody has to be called.
 *
 * @throws ConfigurationError when the mirror node says that a topic is not fit for stars
 * @throws RetryableError when Postgres is out of reach
 */
export async function startPublisher(parts: PublisherParts): Promise<Publisher> {
  const { sql, topics, log } = parts;
  const closing = new AbortController();
  // Every star in hand listens, and not one more.
  setMaxListeners(bounds.publishBatchMax, closing.signal);
  const notices = createNotices(log, parts.metrics);
  const { context, followers } = compose(parts, notices, closing.signal);
  const readiness = createReadiness({ ...parts, notices });
  const drain = createDrain(context, readiness.isReady);
  await Promise.all([readiness.check(), learnLedgerTime(context)]);

  const look = async (): Promise<void> => {
    await readiness.check().then(
      () => notices.clear("configuration", UNFIT),
      (error: unknown) => {
        if (!(error instanceof ConfigurationError)) throw error;
        notices.raise("configuration", error.message, UNFIT);
      },
    );
    notices.pending(await pendingPublications(sql));
    await tellAlarms(sql, context.outbox.holder, notices.raised());
  };
  const sweep = async (): Promise<void> => {
    await context.failpoint("sweep.scan");
    drain.soon();
    await context.failpoint("sweep.enqueued");
    await look();
  };
  let isSweeping = false;
  const timer = setInterval(async () => {
    if (isSweeping) return drain.soon();
    isSweeping = true;
    await sweep().catch(() => notices.failed("sweep"));
    isSweeping = false;
  }, parts.sweepEveryMs ?? bounds.sweepEveryMs);
  parts.queue.onWake(() => drain.soon());
  // Another process may have left messages on their way, and stars behind.
  for (const follower of followers) follower.poke();
  drain.soon();

  return {
    drainNow: () => drain.untilNothingIsDue(),
    async readTopics() {
      const kinds = TOPIC_KINDS.filter(readiness.isReady);
      await Promise.all(kinds.map((kind) => context.readToEnd(topics[kind])));
      return kinds.map((kind) => topics[kind]);
    },
    async close() {
      closing.abort();
      clearInterval(timer);
      const inHand = Promise.all([drain.idle(), ...followers.map((each) => each.close())]);
      await Promise.race([inHand, delay(bounds.drainMs, undefined, { ref: false })]);
      await tellAlarms(sql, context.outbox.holder, []).catch(() => undefined);
      await layAllBack(context.outbox).catch((error: unknown) =>
        log.warn({ err: error }, "leases were not given back; they run out by themselves"),
      );
      log.info({ topics }, "publishing stopped");
    },
  };
}

/** Armed or not is asked at each passing: arming may come later than the publisher. */
const atFailpoint: PublishContext["failpoint"] = (name) => armed?.(name);

function compose(
  parts: PublisherParts,
  notices: PublishContext["notices"],
  closing: AbortSignal,
): { readonly context: PublishContext; readonly followers: readonly TopicFollower[] } {
  const { sql, topic, mirror, topics, leaseMs = bounds.publishLeaseMs } = parts;
  const { clock = createLedgerClock(), failpoint = atFailpoint } = parts;
  const room = bulkhead(bounds.publishInFlightMax, 2 * bounds.publishBatchMax);
  const follow = (topicId: string, kind: TopicKind): TopicFollower =>
    followTopic({
      sql,
      mirror,
      clock,
      wait,
      failpoint,
      topicId,
      onVerdict: (verdict) => notices.announce(kind, verdict),
      onConfirmLag: notices.confirmedAfter,
      onFailure: (error) => notices.log.debug({ err: error, topicId }, "the topic was not read"),
    });
  const openLane = (kind: TopicKind) => ({
    topicId: topics[kind],
    gate: createSendGate({
      now: () => performance.now(),
      onShut(obstacle, detail) {
        notices.log.warn({ topicId: topics[kind], obstacle }, `sending rests: ${detail}`);
        if (obstacle === "configuration") notices.raise(obstacle, detail, topics[kind]);
      },
      onOpen() {
        notices.log.info({ topicId: topics[kind] }, "sending goes on");
        notices.clear("configuration", topics[kind]);
      },
    }),
    follower: follow(topics[kind], kind),
  });
  const lanes = { event: openLane("event"), asset: openLane("asset") };
  const context = {
    outbox: { sql, holder: randomUUID(), leaseMs },
    topic,
    mirror,
    clock,
    lanes,
    readToEnd: (topicId: string) => {
      const lane = Object.values(lanes).find((each) => each.topicId === topicId);
      return (lane?.follower ?? follow(topicId, "event")).readToEnd();
    },
    call: <T>(request: () => Promise<T>) => room.execute(request),
    wait,
    closing,
    random: Math.random,
    failpoint,
    notices,
  };
  return { context, followers: TOPIC_KINDS.map((kind) => lanes[kind].follower) };
}

/** So that a machine whose clock is late does not waste its first ids. */
async function learnLedgerTime({ mirror, clock, notices }: PublishContext): Promise<void> {
  try {
    const block = await mirror.newestBlock({ deadlineMs: MIRROR_PATIENCE_MS });
    if (block !== null) clock.sawConsensus(parseTimestamp(block.to));
  } catch (error) {
    notices.log.warn({ err: error }, "the mirror node is away; publishing starts without it");
  }
}
