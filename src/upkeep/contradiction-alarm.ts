import { randomUUID } from "node:crypto";
import type { Clock } from "../clock.ts";
import { type Logger, oncePerOutage } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { reportAlarms, type StandingAlarm } from "../publishing/alarms.ts";
import { every, type Service } from "../service.ts";
import type { Sql } from "../store/postgres.ts";

/** An alarm that is not repeated so often counts as cleared. */
const TELL_EVERY_MS = 10_000;
/** It clears itself so long after the last contradiction: the next one raises it again. */
const STANDS_MS = 3_600_000;

/** The alarm that machine and journal contradict each other. */
export interface ContradictionAlarm extends Service {
  /** Counts it, logs it and raises the alarm. Never throws and never waits. */
  raise(error: Error): void;
}

/** Makes the alarm of one web process, down at first. */
export function contradictionAlarm(given: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "contradictions">;
}): ContradictionAlarm {
  const { sql, clock, log, metrics } = given;
  const holder = randomUUID();
  const outage = oncePerOutage(log, "the alarm of a contradiction could not be raised");
  let raised: StandingAlarm | undefined;
  let clearsAt = 0;
  const tell = async (): Promise<void> => {
    if (raised === undefined) return;
    const isOver = clock.now() >= clearsAt;
    await reportAlarms(sql, holder, isOver ? [] : [raised]);
    outage.over();
    if (isOver) raised = undefined;
  };
  const telling = every(TELL_EVERY_MS, tell, { onFailure: outage.failed });
  return {
    raise(error) {
      metrics.contradictions.inc();
      log.error({ err: error }, "machine and journal contradict each other");
      const detail = error.message.slice(0, 500);
      const since = performance.now();
      raised = { reason: "machine-contradiction", subject: "", since, ...raised, detail };
      clearsAt = clock.now() + STANDS_MS;
      telling.wake();
    },
    async close() {
      await telling.close();
      if (raised !== undefined) await reportAlarms(sql, holder, []).catch(() => undefined);
    },
  };
}
