import { withInstants } from "../../actors/day.ts";
import type { Sql } from "../store/postgres.ts";
import { listAlarms, type RaisedAlarm } from "./alarms.ts";
import { type PendingPublications, pendingPublications } from "./outbox.ts";
import { countFindings, type Finding, lastFindings } from "./reconciliation-findings.ts";

export interface PublishingState extends PendingPublications {
  /** Open differences between outbox and topics. */
  readonly findings: number;
  /** The open ones, then the newest that are resolved. */
  readonly lastFindings: readonly Finding[];
  /** What living workers want looked at. */
  readonly alarms: readonly RaisedAlarm[];
}

const LAST_FINDINGS = 20;

export async function publishingState(sql: Sql): Promise<PublishingState> {
  const [pending, counts, last, alarms] = await Promise.all([
    pendingPublications(sql),
    countFindings(sql),
    lastFindings(sql, LAST_FINDINGS),
    listAlarms(sql),
  ]);
  const findings = [...counts.values()].reduce((sum, open) => sum + open, 0);
  return { ...pending, findings, lastFindings: last, alarms };
}

/** The same as JSON: what `publishing status --json` and `/ops/api/publishing` answer. */
export function publishingBody({ lastFindings, alarms, ...state }: PublishingState) {
  return {
    ...state,
    lastFindings: lastFindings.map(withInstants),
    alarms: alarms.map(({ reason, ...alarm }) => ({ kind: reason, ...withInstants(alarm) })),
  };
}
