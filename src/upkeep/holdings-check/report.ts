import { type Day, withInstants } from "../../../actors/day.ts";
import { type ReleasedNft, releasesOnMint } from "../../reads/console-holdings.ts";
import type { Sql } from "../../store/postgres.ts";
import type { DeferredPart } from "./claims.ts";
import { type CheckRun, readProgress } from "./progress.ts";

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
