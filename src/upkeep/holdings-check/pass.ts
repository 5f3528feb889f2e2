import { findClaims } from "../../journal/live-claims.ts";
import type { Collection, GoneClaim, LiveClaim, MintEnd } from "../../journal/mint-end.ts";
import type { Logger } from "../../log.ts";
import type { CheckedMintRow, ReleasedNft } from "../../reads/console-holdings.ts";
import type { Pages } from "../../store/page-by-page.ts";
import type { Sql } from "../../store/postgres.ts";
import { applyReleases } from "./apply.ts";
import { type CheckedMint, type DeferredPart, listMints, type Part, readClaims } from "./claims.ts";
import { planReleases } from "./plan.ts";
import {
  type CheckRun,
  type MintProgress,
  type ProgressDeps,
  readProgress,
  saveProgress,
} from "./progress.ts";
import { type ReadingDeps, type Readings, readCollections } from "./readings.ts";
import { verifyClaims } from "./verify.ts";

/** A mint, and what is still to be looked at there. */
interface OpenMint extends CheckedMint {
  readonly parts: readonly Part[];
  /** What earlier passes of the run found held. */
  readonly kept: number;
}

interface MintPass {
  readonly mint: string;
  readonly parts: readonly Part[];
  readonly readings: Readings;
  /** Ends attributions; answers the parts that have to be looked at again. */
  readonly apply: (releases: readonly MintEnd[]) => Promise<readonly DeferredPart[]>;
}

/**
 * Most releases of one statement. Carriers of the +5 end together, because what one wallet lost
 * may carry another's bonus: 2,000 are far more than a mint loses on a day.
 */
const RELEASES_MAX: Readonly<Record<Collection, number>> = { A: 500, B: 2_000 };

/** The part that is a collection as a whole, and no NFT of it. */
const WHOLE = { serial: null, starId: null };
/** Parts of a collection listed one by one: one statement writes down those of a mint. */
const OPEN_PARTS_MAX = 10_000;

/** The mints that a run has not finished, or all of them. */
async function openMints(sql: Sql, run: CheckRun | null): Promise<readonly OpenMint[]> {
  const mints = await listMints(sql);
  const progress = run && (await readProgress(sql, run));
  const whole = (["A", "B"] as const).map((collection) => ({ ...WHOLE, collection }));
  return mints.flatMap((mint) => {
    const { kept, deferred: parts } = progress?.get(mint.id) ?? { kept: 0, deferred: whole };
    return parts.length === 0 ? [] : [{ ...mint, parts, kept }];
  });
}

function readFor(deps: ReadingDeps, mints: readonly OpenMint[]): Promise<Readings> {
  const wanted = mints.flatMap(({ counts, parts }) =>
    parts.map(({ collection }) => collection).filter((collection) => counts.includes(collection)),
  );
  return readCollections(deps, new Set(wanted));
}

/** Looks at parts of a mint: what is gone ends, what is inconclusive stays open. */
async function checkMint(
  deps: ReadingDeps & { readonly sql: Sql },
  pass: MintPass,
): Promise<MintProgress> {
  const a = await checkCollection(deps, pass, "A");
  const b = await checkCollection(deps, pass, "B");
  return { kept: a.kept + b.kept, deferred: [...a.deferred, ...b.deferred] };
}

async function checkCollection(
  deps: ReadingDeps & { readonly sql: Sql },
  pass: MintPass,
  collection: Collection,
): Promise<MintProgress> {
  const { readings } = pass;
  const parts = pass.parts.filter((part) => part.collection === collection);
  const isWhole = parts.some(({ serial }) => serial === null);
  const reading = readings.of[collection];
  const deferred: DeferredPart[] = [];
  const gone: GoneClaim[] = [];
  const end = async (): Promise<void> => {
    while (gone.length > 0) {
      const batch = gone.splice(0, RELEASES_MAX[collection]);
      const plan = await planReleases({ ...deps, readings }, pass.mint, batch);
      deferred.push(...plan.deferred, ...(await pass.apply(plan.releases)));
    }
  };
  const leaveWholeOpen = (reason: string): MintProgress => ({
    kept: 0,
    deferred: [{ ...WHOLE, collection, wallet: null, reason }],
  });
  let kept = 0;
  for await (const page of claimsOf(deps.sql, { mint: pass.mint, collection, parts })) {
    if (isWhole && reading !== null && "inconclusive" in reading) {
      return leaveWholeOpen(reading.inconclusive);
    }
    const verified = await verifyClaims(page, readings);
    await deps.failpoint?.("forever.judged");
    kept += verified.kept;
    gone.push(...verified.gone);
    deferred.push(...verified.deferred);
    // Collection A may lose thousands, and what one wallet lost is of no use to another.
    if (collection === "A") await end();
  }
  await end();
  if (deferred.length > OPEN_PARTS_MAX) {
    return leaveWholeOpen(
      `${deferred.length} NFTs are in doubt; the first: ${deferred[0]?.reason}`,
    );
  }
  return { kept, deferred };
}

/** The claims that parts of one collection are about, page by page. */
async function* claimsOf(
  sql: Sql,
  given: {
    readonly mint: string;
    readonly collection: Collection;
    readonly parts: readonly Part[];
  },
): Pages<LiveClaim> {
  const serials = given.parts.map(({ serial }) => serial).filter((serial) => serial !== null);
  if (serials.length < given.parts.length) yield* readClaims(sql, given);
  else yield* findClaims(sql, { ...given, serials });
}

/**
 * Looks at everything the run has left open: one reading of each collection serves all mints.
 *
 * @returns how many parts are still open
 */
export async function makePass(
  deps: ReadingDeps & ProgressDeps & { readonly log: Logger },
  run: CheckRun,
): Promise<number> {
  const { sql, failpoint } = deps;
  const open = await openMints(sql, run);
  const empty = open.filter(({ counts }) => counts.length === 0);
  await saveProgress(
    deps,
    run,
    empty.map(({ id, kept }) => ({ mint: id, kept, deferred: [] })),
  );
  const counting = open.filter(({ counts }) => counts.length > 0);
  const readings = await readFor(deps, counting);
  let [removed, deferred] = [0, 0];
  for (const { id: mint, parts, kept } of counting) {
    const found = await checkMint(deps, {
      mint,
      parts,
      readings,
      apply: async (releases) => {
        const contested = await applyReleases(deps, { runId: run.id, mint }, releases);
        await failpoint?.("forever.removed");
        removed += releases.length - contested.length;
        return contested;
      },
    });
    await failpoint?.("forever.mark");
    await saveProgress(deps, run, [{ ...found, mint, kept: kept + found.kept }]);
    await failpoint?.("forever.marked");
    deferred += found.deferred.length;
  }
  const { id, day, kind, passes } = run;
  // The next start goes on with a day's check that a stop left open, but not with one by hand.
  const isResumed = deps.signal.aborted && kind === "scheduled";
  deps.log[deferred === 0 || isResumed ? "info" : "warn"](
    { run: id, day, kind, passes, mints: open.length, removed, deferred },
    "forever mints were checked",
  );
  return deferred;
}

/** What a check would do now. Counts are whole; of NFTs and open parts the first are listed. */
export interface DryReport {
  readonly mints: readonly CheckedMintRow[];
  readonly releases: readonly ReleasedNft[];
}

/** Entries of one list: a person reads them, and they are kept in memory. A run's report has all. */
export const LISTED_MAX = 200;

/** Reads, verifies and plans as `makePass`, and writes nothing. */
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
