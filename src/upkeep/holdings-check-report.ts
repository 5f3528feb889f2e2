import type { Day } from "../../actors/day.ts";
import { walletOf } from "../journal/star-record.ts";
import { inTime, type Sql } from "../store/postgres.ts";
import type { Collection } from "./holdings-check-reading.ts";
import { type CheckRun, readMarks } from "./holdings-check-run.ts";

/** An attribution that the check ended. */
export interface Removed {
  readonly wallet: string;
  readonly collection: Collection;
  readonly serial: number;
  /** What the mint's total lost: 0 where a spare carries the +5 on. */
  readonly weight: number;
  readonly spare: number | null;
  readonly evidence: {
    /** As the mirror node gives it; null once burned or wiped. */
    readonly owner: string | null;
    readonly deleted: boolean;
    /** When the collection's reading began, and the NFT's own: RFC 3339. */
    readonly listedAt: string;
    readonly readAt: string;
  };
}

/** A part left open: nothing was removed there. */
export interface Deferred {
  readonly collection: Collection;
  /** Null for all NFTs of the collection. */
  readonly serial: number | null;
  readonly wallet: string | null;
  readonly reason: string;
}

/** What a run did with one mint. */
export interface MintReport {
  readonly id: string;
  readonly removed: readonly Removed[];
  /** Attributions found held. */
  readonly kept: number;
  readonly deferred: readonly Deferred[];
}

/** What a run did (contract, section 7, `holdings-check run`). */
export interface CheckReport {
  readonly day: Day;
  readonly mints: readonly MintReport[];
}

/**
 * Tells what a run has done so far, over all its passes and whoever made them: from what is
 * written down, not from memory.
 */
export async function reportRun(sql: Sql, run: CheckRun): Promise<CheckReport> {
  const [marks, removed] = [await readMarks(sql, run), await readRemoved(sql, run)];
  const ids = [...new Set([...marks.keys(), ...removed.keys()])].sort();
  const mints = ids.map((id) => {
    const { kept, deferred } = marks.get(id) ?? { kept: 0, deferred: [] };
    return {
      id,
      removed: removed.get(id) ?? [],
      kept,
      deferred: deferred.map(({ collection, attribution, wallet, reason }) => ({
        collection,
        serial: attribution?.serial ?? null,
        wallet,
        reason,
      })),
    };
  });
  return { day: run.day, mints };
}

/** Whether every part was settled. */
export function isComplete({ mints }: CheckReport): boolean {
  return mints.every(({ deferred }) => deferred.length === 0);
}

interface RemovedRow {
  readonly event_id: string;
  readonly collection: Collection;
  readonly serial: number;
  readonly wallet: number;
  readonly weight: number;
  readonly spare: number | null;
  readonly owner: string | null;
  readonly deleted: boolean;
  readonly listed_at: number;
  readonly read_at: number;
}

async function readRemoved(
  sql: Sql,
  { id }: CheckRun,
): Promise<ReadonlyMap<string, readonly Removed[]>> {
  const rows = await inTime(
    sql<RemovedRow[]>`
      select event_id, collection, serial, wallet, weight, spare, owner, deleted, listed_at, read_at
      from claim_release where run_id = ${id} order by event_id, seq, collection, serial`,
  );
  const removed = new Map<string, Removed[]>();
  for (const row of rows) {
    const { collection, serial, weight, spare, owner, deleted } = row;
    const evidence = {
      owner,
      deleted,
      listedAt: new Date(row.listed_at).toISOString(),
      readAt: new Date(row.read_at).toISOString(),
    };
    const entry = { wallet: walletOf(row.wallet), collection, serial, weight, spare, evidence };
    const entries = removed.get(row.event_id);
    if (entries === undefined) removed.set(row.event_id, [entry]);
    else entries.push(entry);
  }
  return removed;
}
