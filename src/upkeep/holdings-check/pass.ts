import { findClaims } from "../../journal/live-claims.ts";
import type { Collection, GoneClaim, LiveClaim, MintEnd } from "../../journal/mint-end.ts";
import type { Pages } from "../../store/page-by-page.ts";
import type { Sql } from "../../store/postgres.ts";
import { type CheckedMint, type DeferredPart, listMints, type Part, readClaims } from "./claims.ts";
import { planReleases } from "./plan.ts";
import { type CheckRun, type MintProgress, readProgress } from "./progress.ts";
import { type ReadingDeps, type Readings, readCollections } from "./readings.ts";
import { verifyClaims } from "./verify.ts";

/** A mint, and what is still to be looked at there. */
export interface OpenMint extends CheckedMint {
  readonly parts: readonly Part[];
  /** What earlier passes of the run found held. */
  readonly kept: number;
}

export interface MintPass {
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
export async function openMints(sql: Sql, run: CheckRun | null): Promise<readonly OpenMint[]> {
  const mints = await listMints(sql);
  const progress = run && (await readProgress(sql, run));
  const whole = (["A", "B"] as const).map((collection) => ({ ...WHOLE, collection }));
  return mints.flatMap((mint) => {
    const { kept, deferred: parts } = progress?.get(mint.id) ?? { kept: 0, deferred: whole };
    return parts.length === 0 ? [] : [{ ...mint, parts, kept }];
  });
}

export function readFor(deps: ReadingDeps, mints: readonly OpenMint[]): Promise<Readings> {
  const wanted = mints.flatMap(({ counts, parts }) =>
    parts.map(({ collection }) => collection).filter((collection) => counts.includes(collection)),
  );
  return readCollections(deps, new Set(wanted));
}

/** Looks at parts of a mint: what is gone ends, what is inconclusive stays open. */
export async function checkMint(
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
  const asked = new Map<number, string>();
  for (const { serial, starId } of given.parts) {
    if (serial === null || starId === null) return yield* readClaims(sql, given);
    asked.set(serial, starId);
  }
  // Attributed again since it was deferred: left to a later run.
  for await (const page of findClaims(sql, { ...given, serials: [...asked.keys()] })) {
    const same = page.filter(({ serial, starId }) => asked.get(serial) === starId);
    if (same.length > 0) yield same;
  }
}
