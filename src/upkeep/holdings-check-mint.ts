import type { Clock } from "../clock.ts";
import type { Sql } from "../store/postgres.ts";
import { type LiveClaim, type Part, readClaims } from "./holdings-check-claims.ts";
import { type DoubtfulClaim, decideEndings, type GoneClaim } from "./holdings-check-decide.ts";
import { heldSerials, judgeClaim, type Readings } from "./holdings-check-judge.ts";
import type { Collection } from "./holdings-check-reading.ts";
import { releaseClaims, type Scope } from "./holdings-check-release.ts";
import type { DeferredPart, Mark } from "./holdings-check-run.ts";

export interface MintDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  /** Called between steps by tests, which stop it there. */
  readonly failpoint?: ((name: string) => void | Promise<void>) | undefined;
  /** Hears of each commit that lowered a mint's counter. */
  readonly onRemoved?: ((mint: string, totalVotes: number) => void) | undefined;
}

/** One pass over one mint. */
export interface MintPass extends Scope {
  readonly parts: readonly Part[];
  readonly readings: Readings;
}

/**
 * Most endings of one statement. Carriers of the +5 end together, because what one wallet lost
 * may carry another's bonus; so many a day are far more than a mint loses.
 */
const ENDINGS_MAX: Readonly<Record<Collection, number>> = { A: 500, B: 2_000 };

/** Looks at parts of a mint: what is gone ends, what is in doubt stays open. */
export async function checkMint(deps: MintDeps, pass: MintPass): Promise<Mark> {
  const a = await checkCollection(deps, pass, "A");
  const b = await checkCollection(deps, pass, "B");
  return { kept: a.kept + b.kept, deferred: [...a.deferred, ...b.deferred] };
}

/** All parts of a collection together, because one wallet's loss may carry another's bonus. */
async function checkCollection(
  deps: MintDeps,
  pass: MintPass,
  collection: Collection,
): Promise<Mark> {
  const parts = pass.parts.filter((part) => part.collection === collection);
  const isWhole = parts.some(({ attribution }) => attribution === null);
  const only = isWhole ? null : parts.flatMap(({ attribution }) => attribution ?? []);
  const reading = pass.readings.of[collection];
  const deferred: DeferredPart[] = [];
  const gone: GoneClaim[] = [];
  let kept = 0;
  for await (const page of readClaims(deps.sql, { mint: pass.mint, collection, only })) {
    if (isWhole && reading !== null && "doubt" in reading) {
      const whole = { collection, attribution: null, wallet: null, reason: reading.doubt };
      return { kept: 0, deferred: [whole] };
    }
    const judged = await judgePage(page, pass.readings);
    await deps.failpoint?.("forever.judged");
    kept += judged.kept;
    gone.push(...judged.gone);
    deferred.push(...judged.doubtful.map(deferral));
    // Collection A may lose thousands, and none of them concerns another.
    if (collection === "A") deferred.push(...(await endAll(deps, pass, gone.splice(0))));
  }
  deferred.push(...(await endAll(deps, pass, gone)));
  return { kept, deferred };
}

export interface JudgedPage {
  readonly kept: number;
  readonly gone: readonly GoneClaim[];
  readonly doubtful: readonly DoubtfulClaim[];
}

/** Judges claims side by side; nothing is written. */
export async function judgePage(
  page: readonly LiveClaim[],
  readings: Readings,
): Promise<JudgedPage> {
  const verdicts = await Promise.all(
    page.map(async (claim) => ({ claim, verdict: await judgeClaim(claim, readings) })),
  );
  return {
    kept: verdicts.filter(({ verdict }) => verdict.kind === "held").length,
    gone: verdicts.flatMap(({ claim, verdict }) =>
      verdict.kind === "gone" ? [{ ...claim, evidence: verdict.evidence }] : [],
    ),
    doubtful: verdicts.flatMap(({ claim, verdict }) =>
      verdict.kind === "doubtful" ? [{ claim, doubt: verdict.doubt }] : [],
    ),
  };
}

/** Ends attributions; answers the parts that have to be looked at again. */
async function endAll(
  deps: MintDeps,
  pass: MintPass,
  gone: readonly GoneClaim[],
): Promise<readonly DeferredPart[]> {
  const open: DeferredPart[] = [];
  const readingB = pass.readings.of.B;
  const heldB = readingB === null || "doubt" in readingB ? () => [] : heldSerials(readingB);
  for (const batch of inBatches(gone)) {
    const decided = await decideEndings(
      { ...deps, lookAt: pass.readings.lookAt, heldB },
      pass.mint,
      batch,
    );
    const released = await releaseClaims(deps, pass, decided.endings);
    await deps.failpoint?.("forever.removed");
    if (released.totalVotes !== null) deps.onRemoved?.(pass.mint, released.totalVotes);
    open.push(...[...decided.doubtful, ...released.open].map(deferral));
  }
  return open;
}

function deferral({ claim, doubt }: DoubtfulClaim): DeferredPart {
  const { collection, serial, starId, wallet } = claim;
  return { collection, attribution: { serial, starId }, wallet, reason: doubt };
}

export function inBatches(gone: readonly GoneClaim[]): readonly (readonly GoneClaim[])[] {
  const size = ENDINGS_MAX[gone[0]?.collection ?? "A"];
  const count = Math.ceil(gone.length / size);
  return Array.from({ length: count }, (_, n) => gone.slice(n * size, (n + 1) * size));
}
