import type { Day } from "../../../actors/day.ts";
import type { Collection } from "../../journal/mint-end.ts";
import { type ReleasedNft, releasesOnMint } from "../../reads/console-holdings.ts";
import type { Sql } from "../../store/postgres.ts";
import type { DeferredPart } from "./claims.ts";
import { type CheckRun, readProgress } from "./progress.ts";

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
    /** When the collection's reading started, and the NFT's own: RFC 3339. */
    readonly listedAt: string;
    readonly readAt: string;
  };
}

/** What a run did with one mint. */
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
  const { wallet, collection, serial, weight, spare, owner, deleted } = release;
  const listedAt = new Date(release.listedAt).toISOString();
  const readAt = new Date(release.readAt).toISOString();
  return {
    ...{ wallet, collection, serial, weight, spare },
    evidence: { owner, deleted, listedAt, readAt },
  };
}
