import { exportAlarms } from "../journal/export-days.ts";
import type { Metrics } from "../metrics.ts";
import { pendingPublications } from "../publishing/outbox.ts";
import type { Sql } from "../store/postgres.ts";
import { pendingRewards } from "../upkeep/reward-hand-off.ts";

/**
 * Sets what Postgres alone knows, whichever process did the work; asked for at each scrape.
 *
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export async function refreshMetrics(sql: Sql, metrics: Metrics): Promise<void> {
  const publishing = await pendingPublications(sql);
  metrics.publishingPending.set(publishing.pending);
  metrics.publishingOldestPending.set(publishing.oldestPendingSeconds ?? 0);
  const rewards = await pendingRewards(sql);
  metrics.rewardsPending.set(rewards.pending);
  metrics.rewardsOldestPending.set(rewards.oldestPendingSeconds ?? 0);
  const exports = await exportAlarms(sql);
  metrics.exportsDiffering.set(exports.differing);
  metrics.exportsOverdue.set(exports.overdue);
}
