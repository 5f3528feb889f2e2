import { setTimeout as delay } from "node:timers/promises";
import type { Failpoint } from "../failpoint.ts";
import type { OneNode } from "../ledger/mirror/limits.ts";
import type { MirrorNode } from "../ledger/mirror/node.ts";
import type { Topic } from "../ledger/topic.ts";
import type { LedgerClock } from "./ledger-clock.ts";
import type { LeasedStar, Outbox } from "./outbox.ts";
import type { PublishingAlerts } from "./publishing-alerts.ts";
import type { SendGate } from "./send-gate.ts";

export type TopicKind = LeasedStar["topic"];
export const TOPIC_KINDS = ["event", "asset"] as const satisfies readonly TopicKind[];

/** Where a test may stop, crash or delay publishing. */
export type PublishFailpoint = Extract<Failpoint, `pub.${string}` | `sweep.${string}`>;

/** Everything the publishing of one star needs. */
export interface PublishContext {
  readonly outbox: Outbox;
  readonly topic: Topic;
  readonly mirror: Pick<
    MirrorNode,
    "topicMessage" | "topicMessages" | "transactions" | "newestBlock"
  >;
  readonly clock: LedgerClock;
  readonly lanes: Readonly<Record<TopicKind, TopicLane>>;
  /**
   * Reads a topic to the end it has now or later, one of earlier settings too.
   *
   * @param oneNode where the end is that of the node which other reads are of
   * @returns false when there was a gap, or the publisher closes before it
   * @throws MirrorError, or RetryableError when Postgres is away
   */
  readonly readToEnd: (topicId: string, oneNode?: OneNode) => Promise<boolean>;
  /** Runs a call to a consensus node when there is room for one. */
  readonly call: <T>(request: () => Promise<T>) => Promise<T>;
  readonly wait: Wait;
  /** Aborted when the publisher closes: finish the step in hand, take no other. */
  readonly closing: AbortSignal;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly failpoint: (name: PublishFailpoint) => void | Promise<void>;
  readonly alerts: PublishingAlerts;
}

/** A publisher's own; each star gets the database in which it is taken up. */
export interface PublisherContext extends Omit<PublishContext, "outbox"> {
  readonly outbox: Omit<Outbox, "database">;
}

export interface TopicLane {
  readonly topicId: string;
  readonly gate: SendGate;
  readonly follower: { poke(): void };
}

/** Waits, or less when the signal aborts; never rejects. */
export type Wait = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export const wait: Wait = async (milliseconds, signal) => {
  await delay(milliseconds, undefined, { signal }).catch(() => undefined);
};
