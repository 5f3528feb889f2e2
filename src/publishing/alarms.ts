import { runStatement, type Sql } from "../store/postgres.ts";

/** What a worker wants an operator to look at, now. */
export interface RaisedAlarm {
  readonly reason: string;
  /** A topic's id, or empty. */
  readonly subject: string;
  readonly detail: string;
  readonly raisedAt: number;
}

/** An alarm as the process that raised it knows it. */
export interface StandingAlarm extends Omit<RaisedAlarm, "raisedAt"> {
  /** When it was raised, by `performance.now()`: what a machine's clock says dates nothing. */
  readonly since: number;
}

/** A worker says every few seconds what it has to say; one that is silent so long is gone. */
const SILENT_AFTER_MS = 30_000;

/**
 * Lets every process see what this worker has raised, and nothing that it has cleared. Postgres
 * dates an alarm when it first hears of it, and again where its clock was set back since.
 */
export async function reportAlarms(
  sql: Sql,
  worker: string,
  raised: readonly StandingAlarm[],
): Promise<void> {
  const now = performance.now();
  const rows = JSON.stringify(
    raised.map(({ since, ...alarm }) => ({ ...alarm, for_ms: Math.round(now - since) })),
  );
  await runStatement(sql`
    with said as (
      select * from json_to_recordset(${rows}::text::json)
        as alarm (reason text, subject text, detail text, for_ms bigint)
    ), gone as (
      delete from publishing_alarm
      where abs(seen_at - now_ms()) > ${2 * SILENT_AFTER_MS}::bigint
        or worker = ${worker} and (reason, subject) not in (select reason, subject from said)
    )
    insert into publishing_alarm (worker, reason, subject, detail, raised_at, seen_at)
    select ${worker}, reason, subject, detail, now_ms() - for_ms, now_ms() from said
    on conflict (worker, reason, subject)
    do update set detail = excluded.detail, seen_at = excluded.seen_at,
      raised_at = least(publishing_alarm.raised_at, excluded.raised_at)`);
}

/** The alarms of all workers that live; one that several raised appears once. */
export async function listAlarms(sql: Sql): Promise<readonly RaisedAlarm[]> {
  return runStatement(sql<RaisedAlarm[]>`
    select reason, subject, max(detail) as detail, min(raised_at) as "raisedAt"
    from publishing_alarm where abs(seen_at - now_ms()) < ${SILENT_AFTER_MS}::bigint
    group by reason, subject order by min(raised_at)`);
}
