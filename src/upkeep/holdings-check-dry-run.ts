import { type Day, dayOf } from "../../actors/day.ts";
import { type PassDeps, readFor, WHOLE } from "./holdings-check.ts";
import { type CheckedMint, listMints, readClaims } from "./holdings-check-claims.ts";
import {
  type DoubtfulClaim,
  decideEndings,
  type Ending,
  type GoneClaim,
} from "./holdings-check-decide.ts";
import { heldSerials, type Readings } from "./holdings-check-judge.ts";
import { inBatches, judgePage } from "./holdings-check-mint.ts";
import type { Collection } from "./holdings-check-reading.ts";

/** An NFT that would count no longer. Instants are epoch milliseconds. */
export interface WouldEnd {
  readonly wallet: string;
  readonly collection: Collection;
  readonly serial: number;
  /** What the mint's total would lose. */
  readonly weight: number;
  /** The collection B serial that would carry the +5 on. */
  readonly spare: number | null;
  /** Who has it now; null once burned or wiped. */
  readonly owner: string | null;
  readonly deleted: boolean;
}

/** A part that would be left open. */
export interface WouldStayOpen {
  readonly collection: Collection;
  /** Null for the whole collection. */
  readonly serial: number | null;
  readonly wallet: string | null;
  readonly reason: string;
}

/** What a check would do on one mint. Of the lists the first are given, the counts are whole. */
export interface DryMint {
  readonly id: string;
  readonly kept: number;
  readonly removed: number;
  readonly weight: number;
  readonly open: number;
  readonly removals: readonly WouldEnd[];
  readonly doubts: readonly WouldStayOpen[];
}

/** What a check would do now. */
export interface DryReport {
  readonly day: Day;
  readonly mints: readonly DryMint[];
}

/** Of each mint: a page is read by a person, and kept in memory. */
const LISTED_MAX = 100;

/**
 * Reads and judges as a check does, by the same functions, and writes nothing: no run, no mark,
 * no release. NFTs may move between this and a run: the run judges anew.
 *
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export async function dryRun(deps: PassDeps): Promise<DryReport> {
  const day = dayOf(deps.clock.now());
  const counting = (await listMints(deps.sql)).filter(({ counts }) => counts.length > 0);
  const readings = await readFor(
    deps,
    counting.map((mint) => ({ ...mint, parts: WHOLE, keptBefore: 0 })),
  );
  const mints: DryMint[] = [];
  for (const mint of counting) mints.push(await judgeMint(deps, mint, readings));
  return { day, mints };
}

async function judgeMint(
  deps: PassDeps,
  { id, counts }: CheckedMint,
  readings: Readings,
): Promise<DryMint> {
  const tally = {
    kept: 0,
    removals: [] as WouldEnd[],
    doubts: [] as WouldStayOpen[],
    removed: 0,
    open: 0,
    weight: 0,
  };
  const note = (endings: readonly Ending[], doubtful: readonly DoubtfulClaim[]): void => {
    tally.removed += endings.length;
    tally.weight += endings.reduce((sum, { weight }) => sum + weight, 0);
    tally.open += doubtful.length;
    tally.removals.push(...endings.slice(0, LISTED_MAX - tally.removals.length).map(wouldEnd));
    tally.doubts.push(...doubtful.slice(0, LISTED_MAX - tally.doubts.length).map(wouldStayOpen));
  };
  for (const collection of counts) {
    const reading = readings.of[collection];
    if (reading !== null && "doubt" in reading) {
      tally.open += 1;
      tally.doubts.push({ collection, serial: null, wallet: null, reason: reading.doubt });
      continue;
    }
    const gone: GoneClaim[] = [];
    for await (const page of readClaims(deps.sql, { mint: id, collection, only: null })) {
      const judged = await judgePage(page, readings);
      tally.kept += judged.kept;
      note([], judged.doubtful);
      gone.push(...judged.gone);
    }
    const heldB = reading === null || collection === "A" ? () => [] : heldSerials(reading);
    for (const batch of inBatches(gone)) {
      const decided = await decideEndings({ ...deps, lookAt: readings.lookAt, heldB }, id, batch);
      note(decided.endings, decided.doubtful);
    }
  }
  return { id, ...tally };
}

function wouldEnd({ wallet, collection, serial, weight, spare, evidence }: Ending): WouldEnd {
  const { owner, deleted } = evidence;
  return { wallet, collection, serial, weight, spare, owner, deleted };
}

function wouldStayOpen({ claim, doubt }: DoubtfulClaim): WouldStayOpen {
  const { collection, serial, wallet } = claim;
  return { collection, serial, wallet, reason: doubt };
}
