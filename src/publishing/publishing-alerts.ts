import { counted } from "../counted.ts";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { StandingAlarm } from "./alarms.ts";
import type { GivenUp } from "./attempts.ts";
import type { Verdict } from "./confirm.ts";
import type { LeasedStar, PendingPublications } from "./outbox.ts";

/** Why an operator should look; publishing goes on as well as it can. */
export type Alarm =
  /** The ledger refuses for a reason that only a person can cure. */
  | "configuration"
  /** Another sender used up a transaction id of this service. */
  | "foreign"
  /** The consensus nodes and the mirror node contradict each other. */
  | "contradiction"
  /** A message that was proved absent is there after all. */
  | "returned"
  /** The topics hold messages of ours that belong to no star of the journal. */
  | "journal-behind"
  /** A star has waited for more than a minute. */
  | "overdue";

export type PublishingMetrics = Pick<
  Metrics,
  | "published"
  | "publishLag"
  | "publishingPending"
  | "publishingOldestPending"
  | "publishingFailures"
  | "publishingAlarm"
  | "publishingAttempts"
  | "confirmLag"
>;

/** What happened once, and is not there to be cured; as findings it stays written down. */
const EVENTS: ReadonlySet<Alarm> = new Set(["foreign", "returned", "contradiction"]);
/** It stands so long after the last one, as a contradiction of machine and journal does. */
const EVENT_STANDS_MS = 3_600_000;

/** A replica that is behind another one has a hole for seconds. */
const GAP_LASTS_MS = 60_000;

/** "Alarm when the oldest unpublished star is more than a minute old." */
const OVERDUE_SECONDS = 60;

/** What publishing reports to people and machines. Never throws. */
export type PublishingAlerts = ReturnType<typeof createPublishingAlerts>;

export function createPublishingAlerts(
  log: Logger,
  metrics: PublishingMetrics,
  now = (): number => performance.now(),
) {
  const { raise, clear, raised } = createAlarms(log, metrics, now);
  const gapsSince = new Map<string, number>();
  return {
    log,
    raise,
    clear,
    raised,
    failed: (reason: string): void => metrics.publishingFailures.inc({ reason }),
    /** An attempt ended: its message was confirmed, or can never come. */
    ended: (outcome: GivenUp): void => metrics.publishingAttempts.inc({ outcome }),
    /** From consensus to having been read back, of a star just confirmed. */
    confirmedAfter: (milliseconds: number): void =>
      metrics.confirmLag.observe(Math.max(0, milliseconds) / 1_000),
    /** A topic was read to its end, or up to a message that the mirror node leaves out. */
    topicRead(topicId: string, isWhole: boolean): void {
      const subject = `reading ${topicId}`;
      if (isWhole) {
        gapsSince.delete(topicId);
        clear("configuration", subject);
        return;
      }
      const since = gapsSince.get(topicId) ?? now();
      gapsSince.set(topicId, since);
      if (now() - since < GAP_LASTS_MS) return;
      const detail = `the mirror node leaves out messages of ${topicId}: beyond them nothing is compared, and a start sends nothing`;
      raise("configuration", detail, subject);
    },
    announce(topic: LeasedStar["topic"], given: Verdict): void {
      const { starId, verdict, sequenceNumber, lagMs, detail } = given;
      if (verdict !== "contradicts" && verdict !== "returned") {
        metrics.publishingAttempts.inc({ outcome: verdict });
      }
      if (verdict === "published" || verdict === "adopted") {
        metrics.published.inc({ topic });
        metrics.publishLag.observe(Math.max(0, lagMs ?? 0) / 1_000);
        log.debug({ starId, sequenceNumber }, verdict);
        return;
      }
      metrics.publishingFailures.inc({ reason: verdict });
      const what = `star ${starId}, transaction ${detail}, ${topic} topic #${sequenceNumber}`;
      if (verdict === "absent") log.info({ starId, transactionId: detail }, "proved absent");
      else if (verdict === "contradicts") raise("contradiction", what);
      else raise(verdict, what);
    },
    pending({ pending, oldestPendingSeconds }: PendingPublications): void {
      metrics.publishingPending.set(pending);
      metrics.publishingOldestPending.set(oldestPendingSeconds ?? 0);
      if ((oldestPendingSeconds ?? 0) <= OVERDUE_SECONDS) clear("overdue");
      else
        raise("overdue", `the oldest of ${counted(pending, "star")} waits for more than a minute`);
    },
  };
}

/** An alarm is up while any of its subjects is. */
function createAlarms(
  log: Logger,
  metrics: Pick<PublishingMetrics, "publishingAlarm">,
  now: () => number,
) {
  const up = new Map<string, StandingAlarm & { readonly reason: Alarm; readonly lastAt: number }>();
  const keyOf = (alarm: string, subject: string): string => `${alarm} ${subject}`;
  const clear = (alarm: Alarm, subject = ""): void => {
    if (!up.delete(keyOf(alarm, subject))) return;
    const isUp = [...up.values()].some(({ reason }) => reason === alarm);
    if (!isUp) metrics.publishingAlarm.set({ reason: alarm }, 0);
    log.info({ alarm, subject }, "publishing works again");
  };
  return {
    clear,
    raised(): readonly StandingAlarm[] {
      for (const { reason, subject, lastAt } of [...up.values()]) {
        if (EVENTS.has(reason) && now() - lastAt >= EVENT_STANDS_MS) clear(reason, subject);
      }
      return [...up.values()].map(({ lastAt: _, ...alarm }) => alarm);
    },
    /** @param subject what it is about, where several may have the same trouble: a topic */
    raise(alarm: Alarm, detail: string, subject = ""): void {
      metrics.publishingAlarm.set({ reason: alarm }, 1);
      const known = up.get(keyOf(alarm, subject));
      // An event is logged each time, a lasting condition once.
      const isNew = known === undefined || alarm === "foreign" || alarm === "returned";
      const about = subject === "" ? detail : `${subject}: ${detail}`;
      if (isNew) log.error({ alarm }, `publishing needs an operator: ${about}`);
      const lastAt = now();
      const since = known?.since ?? lastAt;
      up.set(keyOf(alarm, subject), { reason: alarm, subject, detail, since, lastAt });
    },
  };
}
