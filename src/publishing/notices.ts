import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { Verdict } from "./confirm.ts";

/** Why an operator should look; publishing goes on as well as it can. */
export type Alarm =
  /** The ledger refuses for a reason that only a person can cure. */
  | "configuration"
  /** Somebody else used a transaction id of ours up. */
  | "foreign"
  /** The consensus nodes and the mirror node contradict each other. */
  | "contradiction"
  /** A message that was proved absent is there after all. */
  | "returned"
  /** A star has waited for more than a minute. */
  | "overdue";

/** What publishing tells people and machines. Never throws. */
export interface Notices {
  readonly log: Logger;
  announce(topic: "event" | "asset", verdict: Verdict): void;
  failed(reason: string): void;
  raise(alarm: Alarm, detail: string): void;
  clear(alarm: Alarm): void;
  pending(figures: {
    readonly pending: number;
    readonly oldestPendingSeconds: number | null;
  }): void;
}

export type PublishingMetrics = Pick<
  Metrics,
  | "published"
  | "publishLag"
  | "publishingPending"
  | "publishingOldestPending"
  | "publishingFailures"
  | "publishingAlarm"
>;

/** "Alarm when the oldest unpublished star is more than a minute old." */
const OVERDUE_SECONDS = 60;

export function createNotices(log: Logger, metrics: PublishingMetrics): Notices {
  const raised = new Set<Alarm>();
  const raise = (alarm: Alarm, detail: string): void => {
    metrics.publishingAlarm.set({ reason: alarm }, 1);
    // What is certain for ever is told each time, what lasts once.
    const isNew = !raised.has(alarm) || alarm === "foreign" || alarm === "returned";
    if (isNew) log.error({ alarm }, `publishing needs an operator: ${detail}`);
    raised.add(alarm);
  };
  const clear = (alarm: Alarm): void => {
    if (!raised.delete(alarm)) return;
    metrics.publishingAlarm.set({ reason: alarm }, 0);
    log.info({ alarm }, "publishing is well again");
  };
  return {
    log,
    raise,
    clear,
    failed: (reason) => metrics.publishingFailures.inc({ reason }),
    announce(topic, { starId, verdict, sequenceNumber, lagMs, detail }) {
      if (verdict === "published") {
        metrics.published.inc({ topic });
        metrics.publishLag.observe(Math.max(0, lagMs ?? 0) / 1_000);
        log.debug({ starId, sequenceNumber }, "published");
        return;
      }
      metrics.publishingFailures.inc({ reason: verdict });
      const what = `star ${starId}, transaction ${detail}, ${topic} topic #${sequenceNumber}`;
      if (verdict === "absent") log.info({ starId, transactionId: detail }, "proved absent");
      else if (verdict === "contradicts") raise("contradiction", what);
      else raise(verdict, what);
    },
    pending({ pending, oldestPendingSeconds }) {
      metrics.publishingPending.set(pending);
      metrics.publishingOldestPending.set(oldestPendingSeconds ?? 0);
      if ((oldestPendingSeconds ?? 0) <= OVERDUE_SECONDS) clear("overdue");
      else raise("overdue", `the oldest of ${pending} stars waits for more than a minute`);
    },
  };
}
