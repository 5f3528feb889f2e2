import { randomUUID } from "node:crypto";
import { type Day, dayOf } from "../../actors/day.ts";
import type { Clock } from "../clock.ts";
import { inTime, type Sql } from "../store/postgres.ts";
import type { Part } from "./holdings-check-claims.ts";

/** A run of the check, in this process' hands. */
export interface CheckRun {
  readonly id: string;
  readonly day: Day;
  readonly kind: "scheduled" | "manual";
  /** Passes begun, this one included. */
  readonly passes: number;
}

/** A part left open, and why. */
export interface DeferredPart extends Part {
  readonly wallet: string | null;
  readonly reason: string;
}

/** How far a run is with a mint. */
export interface Mark {
  /** Attributions judged and found held. */
  readonly kept: number;
  /** Empty: the run is done with the mint and will not look at it again. */
  readonly deferred: readonly DeferredPart[];
}

/** How a pass left its run. */
export type RunEnd =
  | { readonly state: "done" | "incomplete" }
  | { readonly state: "running"; readonly nextTryAt: number };

export interface RunDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  /** Names this process among workers. */
  readonly worker: string;
}

/** A worker that dies keeps a run from the others this long. */
const LEASE_MS = 30_000;
const RENEW_EVERY_MS = 10_000;

interface RunRow {
  readonly id: string;
  readonly day: string;
  readonly kind: CheckRun["kind"];
  readonly passes: number;
}

/** Takes the run that is due today, or answers null: see `take_holdings_check`. */
export async function takeDueRun({ sql, clock, worker }: RunDeps): Promise<CheckRun | null> {
  const now = clock.now();
  const [row] = await inTime(
    sql<RunRow[]>`
      select id, day, kind, passes from take_holdings_check(${dayOf(now)}, ${worker}, ${now}, ${LEASE_MS})`,
  );
  return row === undefined ? null : { ...row };
}

/** Begins a run by hand; any number a day. */
export async function beginManualRun({ sql, clock, worker }: RunDeps): Promise<CheckRun> {
  const now = clock.now();
  const run = { id: randomUUID(), day: dayOf(now), kind: "manual", passes: 1 } as const;
  await inTime(sql`
    insert into holdings_check_run (id, day, kind, state, started_at, passes, lease_owner, lease_until)
    values (${run.id}, ${run.day}, ${run.kind}, 'running', ${now}, 1, ${worker}, ${now + LEASE_MS})`);
  return run;
}

/** Keeps a run in this process' hands while the work lasts. */
export async function whileHolding<T>(
  { sql, clock, worker }: RunDeps,
  run: CheckRun,
  work: () => Promise<T>,
): Promise<T> {
  const renew = async (): Promise<void> => {
    await inTime(sql`
      update holdings_check_run set lease_until = ${clock.now() + LEASE_MS}
      where id = ${run.id} and lease_owner = ${worker} and state = 'running'`);
  };
  // A renewal that fails only lets another worker in early: releases happen once regardless.
  const timer = setInterval(() => renew().catch(() => undefined), RENEW_EVERY_MS);
  timer.unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** The marks a run has left so far, by mint. */
export async function readMarks(
  sql: Sql,
  run: Pick<CheckRun, "id">,
): Promise<ReadonlyMap<string, Mark>> {
  const rows = await inTime(
    sql<(Mark & { readonly event_id: string })[]>`
      select event_id, kept, deferred from holdings_check_mint
      where run_id = ${run.id} order by event_id`,
  );
  return new Map(rows.map(({ event_id, kept, deferred }) => [event_id, { kept, deferred }]));
}

/** Marks mints; the newest mark of a mint stands. */
export async function markMints(
  sql: Sql,
  run: Pick<CheckRun, "id">,
  marks: readonly (Mark & { readonly mint: string })[],
): Promise<void> {
  if (marks.length === 0) return;
  await inTime(sql`
    insert into holdings_check_mint (run_id, event_id, kept, deferred)
    select ${run.id}, mint, kept, deferred
    from json_to_recordset(${JSON.stringify(marks)}::text::json)
      as mark (mint text, kept integer, deferred json)
    order by mint
    on conflict (run_id, event_id) do update set kept = excluded.kept, deferred = excluded.deferred`);
}

/** Ends a pass: writes its report down and lets go of the run. */
export async function endPass(
  { sql, clock }: Pick<RunDeps, "sql" | "clock">,
  run: CheckRun,
  { end, report }: { readonly end: RunEnd; readonly report: object },
): Promise<void> {
  const finishedAt = end.state === "running" ? null : clock.now();
  const nextTryAt = end.state === "running" ? end.nextTryAt : 0;
  await inTime(sql`
    update holdings_check_run
    set state = ${end.state}, finished_at = ${finishedAt}, next_try_at = ${nextTryAt},
      report = ${JSON.stringify(report)}::text::json, lease_owner = null, lease_until = 0
    where id = ${run.id} and state = 'running'`);
}
