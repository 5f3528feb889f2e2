import { randomUUID } from "node:crypto";
import { type Day, dayOf, withInstants } from "../../../actors/day.ts";
import type { Clock } from "../../clock.ts";
import { RetryableError } from "../../errors.ts";
import { CHECK_LEASE_MS, type ReleasedNft, releasesOnMint } from "../../reads/console-holdings.ts";
import { every } from "../../service.ts";
import { runStatement, type Sql } from "../../store/postgres.ts";
import type { DeferredPart } from "./claims.ts";

/** A run of the check, in this process' hands. */
export interface CheckRun {
  readonly id: string;
  readonly day: Day;
  readonly kind: "scheduled" | "manual";
  /** Passes started that no stop cut short, this one included. */
  readonly passes: number;
}

export interface MintProgress {
  /** Attributions verified and found held. */
  readonly kept: number;
  /** Empty: the run is done with the mint and will not look at it again. */
  readonly deferred: readonly DeferredPart[];
}

export type RunEnd =
  | { readonly state: "done" | "incomplete" }
  | {
      readonly state: "running";
      readonly nextTryAt: number;
      /** A stop of the process is no failure: later passes wait no longer for it. */
      readonly isCut: boolean;
    };

export interface ProgressDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  /** Names this process among workers. */
  readonly worker: string;
}

const RENEW_EVERY_MS = 10_000;

/** Takes the run that is due today, or answers null: see `take_holdings_check`. */
export async function takeDueRun({ sql, clock, worker }: ProgressDeps): Promise<CheckRun | null> {
  const now = clock.now();
  const [run] = await runStatement(sql<CheckRun[]>`
    select id, day, kind, passes from take_holdings_check(${dayOf(now)}, ${worker}, ${now}, ${CHECK_LEASE_MS})`);
  return run ?? null;
}

/**
 * Starts a run by hand, any number a day. See `start_holdings_check`.
 *
 * @param isOnly answers the run that is in a worker's hands, in any process, where there is one
 */
export async function startManualRun(
  { sql, clock, worker }: ProgressDeps,
  isOnly: boolean,
): Promise<{ readonly run: CheckRun; readonly isNew: boolean }> {
  const [id, now] = [randomUUID(), clock.now()];
  const [run] = await runStatement(sql<[CheckRun]>`
    select id, day, kind, passes
    from start_holdings_check(${id}, ${dayOf(now)}, ${worker}, ${now}, ${CHECK_LEASE_MS}, ${isOnly})`);
  return { run, isNew: run.id === id };
}

/** Keeps a run in this process' hands while the work lasts. */
export async function whileHolding<T>(
  { sql, clock, worker }: ProgressDeps,
  run: CheckRun,
  work: () => Promise<T>,
): Promise<T> {
  // A renewal that fails only lets another worker in early: releases happen once regardless.
  const renewals = every(RENEW_EVERY_MS, async () => {
    await runStatement(sql`
      update holdings_check_run set lease_until = ${clock.now() + CHECK_LEASE_MS}
      where id = ${run.id} and lease_owner = ${worker} and state = 'running'`);
  });
  try {
    return await work();
  } finally {
    await renewals.close();
  }
}

/** How far a run is with each mint that it has looked at. */
export async function readProgress(
  sql: Sql,
  run: CheckRun,
): Promise<ReadonlyMap<string, MintProgress>> {
  const rows = await runStatement(sql<(MintProgress & { readonly event_id: string })[]>`
    select event_id, kept, deferred from holdings_check_mint
    where run_id = ${run.id} order by event_id`);
  return new Map(rows.map(({ event_id, ...progress }) => [event_id, progress]));
}

/**
 * Writes down how far a run is with mints; the newest of a mint stands.
 *
 * @throws RetryableError `UNAVAILABLE` when the process stalled beyond its lease, and the run was
 *   taken by another worker or has ended
 */
export async function saveProgress(
  { sql, worker }: ProgressDeps,
  run: CheckRun,
  progress: readonly (MintProgress & { readonly mint: string })[],
): Promise<void> {
  if (progress.length === 0) return;
  const { count } = await runStatement(sql`
    insert into holdings_check_mint (run_id, event_id, kept, deferred)
    select ${run.id}, mint, kept, deferred
    from json_to_recordset(${JSON.stringify(progress)}::text::json)
      as progress (mint text, kept integer, deferred json)
    where exists (select from holdings_check_run
      where id = ${run.id} and state = 'running' and lease_owner = ${worker})
    order by mint
    on conflict (run_id, event_id) do update set kept = excluded.kept, deferred = excluded.deferred`);
  if (count === 0) {
    throw new RetryableError(
      "UNAVAILABLE",
      "another worker has taken or ended this holdings check",
    );
  }
}

export async function endPass(
  { sql, clock, worker }: ProgressDeps,
  run: CheckRun,
  end: RunEnd,
): Promise<void> {
  const [finishedAt, nextTryAt, uncounted] =
    end.state === "running" ? [null, end.nextTryAt, end.isCut ? 1 : 0] : [clock.now(), 0, 0];
  await runStatement(sql`
    update holdings_check_run
    set state = ${end.state}, finished_at = ${finishedAt}, next_try_at = ${nextTryAt},
      passes = passes - ${uncounted}, lease_owner = null, lease_until = 0
    where id = ${run.id} and state = 'running' and lease_owner = ${worker}`);
}

/** An attribution that the check ended, as `ReleasedNft` says; instants are RFC 3339. */
export interface Removed
  extends Pick<ReleasedNft, "wallet" | "collection" | "serial" | "weight" | "spare"> {
  readonly evidence: Pick<ReleasedNft, "owner" | "deleted"> & Record<"listedAt" | "readAt", string>;
}

export interface MintReport {
  readonly id: string;
  readonly removed: readonly Removed[];
  /** Attributions found held. */
  readonly kept: number;
  readonly deferred: readonly DeferredPart[];
}

/** What a run did (contract, section 7, `holdings-check run`). */
export interface CheckReport {
  readonly day: Day;
  readonly mints: readonly MintReport[];
}

/**
 * Says what a run that has ended did, over all its passes: from what is written down, mint by mint.
 */
export async function reportRun(sql: Sql, run: CheckRun): Promise<CheckReport> {
  const mints: MintReport[] = [];
  for (const [id, { kept, deferred }] of await readProgress(sql, run)) {
    const releases = await releasesOnMint(sql, run.id, id);
    mints.push({ id, removed: releases.map(removedOf), kept, deferred });
  }
  return { day: run.day, mints };
}

/** Whether every part was settled. */
export function isComplete({ mints }: CheckReport): boolean {
  return mints.every(({ deferred }) => deferred.length === 0);
}

function removedOf(release: ReleasedNft): Removed {
  const row = withInstants(release);
  const { wallet, collection, serial, weight, spare } = row;
  const { owner, deleted, listedAt, readAt } = row;
  const evidence = { owner, deleted, listedAt, readAt };
  return { wallet, collection, serial, weight, spare, evidence };
}
