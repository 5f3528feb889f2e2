import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { ownVersion } from "./version.ts";

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
  return {
    registry,
    ...httpMetrics(registry),
    ...starMetrics(registry),
    ...ledgerMetrics(registry),
    ...publishingMetrics(registry),
    ...exportMetrics(registry),
    ...serviceMetrics(registry),
  };
}

function httpMetrics(registry: Registry) {
  const registers = [registry];
  return {
    httpRequests: new Histogram({
      name: "starboard_http_request_duration_seconds",
      help: "Requests by method, route pattern and status.",
      labelNames: ["method", "route", "status"] as const,
      buckets: REQUEST_SECONDS,
      registers,
    }),
    liveStreams: new Gauge({
      name: "starboard_live_streams",
      help: "Open streams of live counters.",
      registers,
    }),
    /** `redis` counts over all processes, `process` while Redis is away. */
    rateLimited: new Counter({
      name: "starboard_http_rate_limited_total",
      help: "Requests refused with 429, by limit and by who counted.",
      labelNames: ["limit", "counted_by"] as const,
      registers,
    }),
    operatorRefused: new Counter({
      name: "starboard_operator_refused_total",
      help: "Operator tokens refused, by door and reason: wrong, or shut for too many wrong ones.",
      labelNames: ["door", "reason"] as const,
      registers,
    }),
  };
}

function starMetrics(registry: Registry) {
  const registers = [registry];
  return {
    starsAccepted: new Counter({
      name: "starboard_stars_accepted_total",
      help: "Stars stored, by target type.",
      labelNames: ["target"] as const,
      registers,
    }),
    starsRefused: new Counter({
      name: "starboard_stars_refused_total",
      help: "Stars refused, by code.",
      labelNames: ["code"] as const,
      registers,
    }),
    actorsOpened: new Counter({
      name: "starboard_actors_opened_total",
      help: "Wallet-day actors that stars were decided by, by where they came from.",
      labelNames: ["source"] as const,
      registers,
    }),
    contradictions: new Counter({
      name: "starboard_contradictions_total",
      help: "Stars that machine and journal judge otherwise: a defect.",
      registers,
    }),
    rewardsPending: new Gauge({
      name: "starboard_rewards_pending",
      help: "Accepted stars that the queue `rewards` has not accepted yet, counted up to 100,000.",
      registers,
    }),
    rewardsOldestPending: new Gauge({
      name: "starboard_rewards_oldest_pending_seconds",
      help: "Age of the oldest such star.",
      registers,
    }),
    commitBatch: new Histogram({
      name: "starboard_commit_batch_stars",
      help: "Stars per commit.",
      buckets: [1, 2, 4, 8, 16, 32, 64, 128],
      registers,
    }),
  };
}

function ledgerMetrics(registry: Registry) {
  const registers = [registry];
  return {
    mirrorRequests: new Histogram({
      name: "starboard_mirror_request_duration_seconds",
      help: "Requests to mirror nodes by route and by how they ended, retries one by one.",
      labelNames: ["route", "outcome"] as const,
      buckets: REQUEST_SECONDS,
      registers,
    }),
    consensusRequests: new Histogram({
      name: "starboard_consensus_request_duration_seconds",
      help: "Calls to consensus nodes: messages handed in and receipts asked for, by answer.",
      labelNames: ["call", "outcome"] as const,
      buckets: REQUEST_SECONDS,
      registers,
    }),
    operatorBalance: new Gauge({
      name: "starboard_operator_balance_tinybars",
      help: "What the account that pays for messages holds.",
      registers,
    }),
    operatorMessageCost: new Gauge({
      name: "starboard_operator_message_tinybars",
      help: "What one message costs, by the network's exchange rate.",
      registers,
    }),
    operatorStarsLeft: new Gauge({
      name: "starboard_operator_stars_left",
      help: "Messages that the balance still pays for.",
      registers,
    }),
  };
}

function publishingMetrics(registry: Registry) {
  const registers = [registry];
  return {
    published: new Counter({
      name: "starboard_published_total",
      help: "Stars confirmed on the ledger, by topic.",
      labelNames: ["topic"] as const,
      registers,
    }),
    publishLag: new Histogram({
      name: "starboard_publish_lag_seconds",
      help: "From a star's instant to its confirmation on the ledger.",
      buckets: PUBLISH_SECONDS,
      registers,
    }),
    confirmLag: new Histogram({
      name: "starboard_confirm_lag_seconds",
      help: "From a message's consensus to its having been read back from the mirror node.",
      buckets: PUBLISH_SECONDS,
      registers,
    }),
    publishingAttempts: new Counter({
      name: "starboard_publishing_attempts_total",
      help: "Transaction ids that are done with, by what became of them.",
      labelNames: ["outcome"] as const,
      registers,
    }),
    /** Of all processes, as the reconciler wrote them down. */
    publishingFindings: new Gauge({
      name: "starboard_publishing_findings",
      help: "Open differences between outbox and topics, by kind.",
      labelNames: ["kind"] as const,
      registers,
    }),
    publishingPending: new Gauge({
      name: "starboard_publishing_pending",
      help: "Accepted stars not yet confirmed on the ledger.",
      registers,
    }),
    publishingOldestPending: new Gauge({
      name: "starboard_publishing_oldest_pending_seconds",
      help: "Age of the oldest such star.",
      registers,
    }),
    publishingFailures: new Counter({
      name: "starboard_publishing_failures_total",
      help: "Attempts to publish that failed and will be repeated, by reason.",
      labelNames: ["reason"] as const,
      registers,
    }),
    /** 1 while someone should look; publishing itself goes on trying. */
    publishingAlarm: new Gauge({
      name: "starboard_publishing_alarm",
      help: "1 while publishing needs an operator, by reason.",
      labelNames: ["reason"] as const,
      registers,
    }),
  };
}

function exportMetrics(registry: Registry) {
  const registers = [registry];
  return {
    exportsDiffering: new Gauge({
      name: "starboard_exports_differing",
      help: "Final days whose journal was changed since: alarm when above 0.",
      registers,
    }),
    exportsOverdue: new Gauge({
      name: "starboard_exports_overdue",
      help: "Days that are over and not final yet; one of them is stuck when above 1.",
      registers,
    }),
  };
}

function serviceMetrics(registry: Registry) {
  const registers = [registry];
  const build = new Gauge({
    name: "starboard_build_info",
    help: "1; the version of this build and of its Node.js.",
    labelNames: ["version", "node"] as const,
    registers,
  });
  build.set({ version: ownVersion(), node: process.version }, 1);
  return {
    checkFailing: new Gauge({
      name: "starboard_check_failing",
      help: "1 while this check of the verdict fails, of the whole service.",
      labelNames: ["check"] as const,
      registers,
    }),
    postgresConnections: new Gauge({
      name: "starboard_postgres_connections",
      help: "Connections of all processes to Postgres, by state.",
      labelNames: ["state"] as const,
      registers,
    }),
    postgresConnectionsMax: new Gauge({
      name: "starboard_postgres_connections_max",
      help: "Connections that Postgres takes in all.",
      registers,
    }),
    queueJobs: new Gauge({
      name: "starboard_queue_jobs",
      help: "Jobs in the queues of BullMQ, by state.",
      labelNames: ["queue", "state"] as const,
      registers,
    }),
  };
}
