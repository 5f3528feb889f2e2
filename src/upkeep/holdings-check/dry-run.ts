import type { CheckedMintRow, ReleasedNft } from "../../reads/console-holdings.ts";
import type { Sql } from "../../store/postgres.ts";
import { checkMint, openMints, readFor } from "./pass.ts";
import type { ReadingDeps } from "./readings.ts";

/** What a check would do now. Counts are whole; of NFTs and open parts the first are listed. */
export interface DryReport {
  readonly mints: readonly CheckedMintRow[];
  readonly releases: readonly ReleasedNft[];
}

/** Entries of one list: a person reads them, and they are kept in memory. A run's report has all. */
export const LISTED_MAX = 200;

/** See `HoldingsCheck.runDry`. */
export async function dryRun(deps: ReadingDeps & { readonly sql: Sql }): Promise<DryReport> {
  const mints = (await openMints(deps.sql, null)).filter(({ counts }) => counts.length > 0);
  const readings = await readFor(deps, mints);
  const rows: CheckedMintRow[] = [];
  const listed: ReleasedNft[] = [];
  for (const { id: event, parts } of mints) {
    let [removed, weight] = [0, 0];
    const { kept, deferred } = await checkMint(deps, {
      mint: event,
      parts,
      readings,
      apply: async (releases) => {
        removed += releases.length;
        for (const release of releases) weight += release.weight;
        const first = releases.slice(0, LISTED_MAX - listed.length);
        for (const { evidence, since, heldB, ...nft } of first)
          listed.push({ event, ...nft, ...evidence });
        return [];
      },
    });
    const open = deferred.length;
    rows.push({ event, kept, removed, weight, open, deferred: deferred.slice(0, LISTED_MAX) });
  }
  return { mints: rows, releases: listed };
}
