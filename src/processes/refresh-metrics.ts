import { RetryableError } from "../errors.ts";
import type { QueueBoard } from "../http/console/queue-board.ts";
import { exportAlarms } from "../journal/export-days.ts";
import type { Metrics } from "../metrics.ts";
import { pendingPublications } from "../publishing/outbox.ts";
import { connectionUse, type Sql } from "../store/postgres.ts";
import { pendingRewards } from "../upkeep/reward-hand-off.ts";
import { isAway, readVerdict } from "../upkeep/service-verdict.ts";

/**
 * Sets what Postgres and the queues alone know, whichever process did the work; asked for at each
 * scrape. Where Postgres does not answer, the check `postgres` says so, and the rest stays as last
 * known.
 *
 * @param board absent where no Redis is fit for BullMQ
 */
export async function refreshMetrics(
  sql: Sql,
  metrics: Metrics,
  board: Pick<QueueBoard, "countJobs"> | undefined,
): Promise<void> {
  const verdict = await readVerdict(sql);
  for (const { name, ok } of verdict.checks) metrics.checkFailing.set({ check: name }, ok ? 0 : 1);
  if (isAway(verdict)) return;
  try {
    // Redis may be away: the queues then have no samples, and the rest goes on.
    const counting = board?.countJobs().catch(() => []) ?? [];
    const publishing = await pendingPublications(sql);
    metrics.publishingPending.set(publishing.pending);
    metrics.publishingOldestPending.set(publishing.oldestPendingSeconds ?? 0);
    const rewards = await pendingRewards(sql);
    metrics.rewardsPending.set(rewards.pending);
    metrics.rewardsOldestPending.set(rewards.oldestPendingSeconds ?? 0);
    const exports = await exportAlarms(sql);
    metrics.exportsDiffering.set(exports.differing);
    metrics.exportsOverdue.set(exports.overdue);
    const { count, max } = await connectionUse(sql);
    metrics.postgresConnections.set(count);
    metrics.postgresConnectionsMax.set(max);
    const counted = await counting;
    // Right before they are set: another scrape may read in between.
    metrics.queueJobs.reset();
    for (const { queue, state, count: jobs } of counted) {
      metrics.queueJobs.set({ queue, state }, jobs);
    }
  } catch (error) {
    // Postgres went away since the verdict: the next scrape says so.
    if (!(error instanceof RetryableError)) throw error;
  }
}
