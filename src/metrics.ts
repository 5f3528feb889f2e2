import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { ownVersion } from "./this-build.ts";

/** Every metric of this process, named in one place; all begin `starboard_`. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Buckets in seconds: around the goals of 10 ms for a read, 50 ms and 3 s for a star. */
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 10];
/** Publishing takes "a few seconds"; a minute is an alarm. */
const PUBLISH_SECONDS = [1, 2, 3, 5, 7, 10, 15, 30, 60, 300, 3_600];

/**
 * Makes the metrics of one process in a registry of their own, so that two apps of one
 * test share nothing.
 *
 * @param options.process also reports memory, handles and event loop lag of this process
 */
export function createMetrics(options: { process?: boolean } = {}) {
  const registry = new Registry();
  if (options.process) collectDefaultMetrics({ register: registry, prefix: "starboard_" });
  const of = makersOn(registry);
  return {
    registry,
    ...httpMetrics(of),
    ...starMetrics(of),
    ...ledgerMetrics(of),
    ...publishingMetrics(of),
    ...exportMetrics(of),
    ...serviceMetrics(of),
  };
}

type Makers = ReturnType<typeof makersOn>;

function makersOn(registry: Registry) {
  const registers = [registry];
  return {
    counter: <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    /** Has no sample until it is set: what a process never looks at is not 0. */
    gauge: <L extends string = never>(name: string, help: string, labelNames: L[] = []) => {
      const made = new Gauge({ name, help, labelNames, registers });
      if (labelNames.length === 0) made.remove();
      return made;
    },
    histogram: <L extends string = never>(
      name: string,
      help: string,
      buckets: number[],
      labelNames: L[] = [],
    ) => new Histogram({ name, help, buckets, labelNames, registers }),
  };
}

function httpMetrics(of: Makers) {
  return {
    httpRequests: of.histogram(
      "starboard_http_request_duration_seconds",
      "Requests by method, route pattern and status.",
      REQUEST_SECONDS,
      ["method", "route", "status"],
    ),
    liveStreams: of.gauge("starboard_live_streams", "Open streams of live counters."),
    /** `redis` counts over all processes, `process` while Redis is away. */
    rateLimited: of.counter(
      "starboard_http_rate_limited_total",
      "Requests refused with 429, by limit and by who counted.",
      ["limit", "counted_by"],
    ),
    operatorRefused: of.counter(
      "starboard_operator_refused_total",
      "Operator tokens refused, by door and reason: wrong, or shut for too many wrong ones.",
      ["door", "reason"],
    ),
  };
}

function starMetrics(of: Makers) {
  return {
    starsAccepted: of.counter("starboard_stars_accepted_total", "Stars stored, by target type.", [
      "target",
    ]),
    starsRefused: of.counter("starboard_stars_refused_total", "Stars refused, by code.", ["code"]),
    actorsOpened: of.counter(
      "starboard_actors_opened_total",
      "Wallet-day actors that stars were decided by, by where they came from.",
      ["source"],
    ),
    contradictions: of.counter(
      "starboard_contradictions_total",
      "Stars that machine and journal judge otherwise: a defect.",
    ),
    rewardsPending: of.gauge(
      "starboard_rewards_pending",
      "Accepted stars that the queue `rewards` has not accepted yet, counted up to 100,000.",
    ),
    rewardsOldestPending: of.gauge(
      "starboard_rewards_oldest_pending_seconds",
      "Age of the oldest such star.",
    ),
    commitBatch: of.histogram(
      "starboard_commit_batch_stars",
      "Stars per commit.",
      [1, 2, 4, 8, 16, 32, 64, 128],
    ),
  };
}

function ledgerMetrics(of: Makers) {
  return {
    mirrorRequests: of.histogram(
      "starboard_mirror_request_duration_seconds",
      "Requests to mirror nodes by route and by how they ended, retries one by one.",
      REQUEST_SECONDS,
      ["route", "outcome"],
    ),
    consensusRequests: of.histogram(
      "starboard_consensus_request_duration_seconds",
      "Calls to consensus nodes: messages handed in and receipts asked for, by answer.",
      REQUEST_SECONDS,
      ["call", "outcome"],
    ),
    operatorBalance: of.gauge(
      "starboard_operator_balance_tinybars",
      "What the account that pays for messages holds.",
    ),
    operatorMessageCost: of.gauge(
      "starboard_operator_message_tinybars",
      "What one message costs, by the network's exchange rate.",
    ),
    operatorStarsLeft: of.gauge(
      "starboard_operator_stars_left",
      "Messages that the balance still pays for.",
    ),
  };
}

function publishingMetrics(of: Makers) {
  return {
    published: of.counter("starboard_published_total", "Stars confirmed on the ledger, by topic.", [
      "topic",
    ]),
    publishLag: of.histogram(
      "starboard_publish_lag_seconds",
      "From a star's instant to its confirmation on the ledger.",
      PUBLISH_SECONDS,
    ),
    confirmLag: of.histogram(
      "starboard_confirm_lag_seconds",
      "From a message's consensus to its having been read back from the mirror node.",
      PUBLISH_SECONDS,
    ),
    publishingAttempts: of.counter(
      "starboard_publishing_attempts_total",
      "Transaction ids that are done with, by what became of them.",
      ["outcome"],
    ),
    /** Of all processes, as the reconciler wrote them down. */
    publishingFindings: of.gauge(
      "starboard_publishing_findings",
      "Open differences between outbox and topics, by kind.",
      ["kind"],
    ),
    publishingPending: of.gauge(
      "starboard_publishing_pending",
      "Accepted stars not yet confirmed on the ledger.",
    ),
    publishingOldestPending: of.gauge(
      "starboard_publishing_oldest_pending_seconds",
      "Age of the oldest such star.",
    ),
    publishingFailures: of.counter(
      "starboard_publishing_failures_total",
      "Attempts to publish that failed and will be repeated, by reason.",
      ["reason"],
    ),
    /** 1 while someone should look; publishing itself goes on trying. */
    publishingAlarm: of.gauge(
      "starboard_publishing_alarm",
      "1 while publishing needs an operator, by reason.",
      ["reason"],
    ),
  };
}

function exportMetrics(of: Makers) {
  return {
    exportsDiffering: of.gauge(
      "starboard_exports_differing",
      "Final days whose journal was changed since: alarm when above 0.",
    ),
    exportsOverdue: of.gauge(
      "starboard_exports_overdue",
      "Days that are over and not final yet; one of them is stuck when above 1.",
    ),
  };
}

function serviceMetrics(of: Makers) {
  const build = of.gauge(
    "starboard_build_info",
    "1; the version of this build and of its Node.js.",
    ["version", "node"],
  );
  build.set({ version: ownVersion(), node: process.version }, 1);
  return {
    checkFailing: of.gauge(
      "starboard_check_failing",
      "1 while this check of the verdict fails, of the whole service.",
      ["check"],
    ),
    postgresConnections: of.gauge(
      "starboard_postgres_connections",
      "Connections of all processes to Postgres.",
    ),
    postgresConnectionsMax: of.gauge(
      "starboard_postgres_connections_max",
      "Connections that Postgres takes in all.",
    ),
    queueJobs: of.gauge("starboard_queue_jobs", "Jobs in the queues of BullMQ, by state.", [
      "queue",
      "state",
    ]),
  };
}
