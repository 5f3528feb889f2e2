import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { Publisher } from "../publishing/publisher.ts";
import {
  auditTopics,
  countFindings,
  FINDING_KINDS,
} from "../publishing/reconciliation-findings.ts";
import { every, type Service } from "../service.ts";
import type { Sql } from "../store/postgres.ts";

export interface ReconcileDeps {
  readonly sql: Sql;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "publishingFindings" | "publishingFailures">;
  readonly publisher: Pick<Publisher, "readTopics">;
  readonly everyMs?: number;
}

/** A message that is not ours is found within seconds; a round costs two requests to the mirror node. */
const EVERY_MS = 5_000;

/**
 * Compares the outbox with the topics, every five seconds. A topic is read to its end even while
 * no star is on its way, so that messages of others are noticed; reading compares it
 * (`src/publishing/topic-follower.ts`). Then one window of older places is checked against the
 * journal. Any number of workers may do it: a finding is written once.
 */
export function startReconciler(deps: ReconcileDeps): Service {
  const { log, metrics, everyMs = EVERY_MS } = deps;
  let known = 0;
  const compare = async (): Promise<void> => {
    const open = await reconcile(deps);
    if (open > known) log.error({ open }, "outbox and topics differ: see /ops/api/publishing");
    known = open;
  };
  return every(everyMs, compare, {
    onFailure(error) {
      metrics.publishingFailures.inc({ reason: "reconcile" });
      log.warn({ err: error }, "outbox and topics could not be compared");
    },
  });
}

/**
 * One round.
 *
 * @returns how many findings are open
 * @throws MirrorError, or RetryableError when Postgres is away; nothing is lost by it
 */
export async function reconcile({ sql, metrics, publisher }: ReconcileDeps): Promise<number> {
  const topics = await publisher.readTopics();
  await auditTopics(sql, topics);
  const open = await countFindings(sql);
  for (const kind of FINDING_KINDS) metrics.publishingFindings.set({ kind }, open.get(kind) ?? 0);
  return [...open.values()].reduce((sum, count) => sum + count, 0);
}
