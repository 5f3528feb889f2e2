import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../clock.ts";
import type { MirrorNode } from "../ledger/mirror-node.ts";
import type { Logger } from "../log.ts";
import type { Sql } from "../store/postgres.ts";
import { type CheckedMint, listMints, type Part } from "./holdings-check-claims.ts";
import type { Readings } from "./holdings-check-judge.ts";
import { checkMint } from "./holdings-check-mint.ts";
import { type Collection, createLookAt, readCollection } from "./holdings-check-reading.ts";
import { type CheckReport, isComplete, reportRun } from "./holdings-check-report.ts";
import {
  beginManualRun,
  type CheckRun,
  endPass,
  type Mark,
  markMints,
  type RunEnd,
  readMarks,
  takeDueRun,
  whileHolding,
} from "./holdings-check-run.ts";

export interface HoldingsCheckDeps {
  readonly sql: Sql;
  readonly mirror: Pick<MirrorNode, "nftOwners" | "nft">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Ledger ids of collections A and B. */
  readonly collections: Readonly<Record<Collection, string>>;
  /** For one page of the mirror node, or one NFT, with all retries; default 5 s. */
  readonly deadlineMs?: number;
  /** Hears of each commit that lowered a mint's counter. */
  readonly onRemoved?: (mint: string, totalVotes: number) => void;
  /** Waits between the passes of a run by hand. */
  readonly pause?: (ms: number) => Promise<unknown>;
  /** Called between steps by tests, which stop it there: `forever.*`. */
  readonly failpoint?: (name: string) => void | Promise<void>;
}

/** What became of a call: nothing was due, or a pass was made. */
export type DueOutcome =
  | { readonly kind: "nothing-due" }
  | {
      readonly kind: "checked";
      readonly report: CheckReport;
      /** When the parts left open may be looked at again; null where none is. */
      readonly retryAfterMs: number | null;
    };

/**
 * The daily check: "removes the weight of collection A or collection B NFTs that the wallet no
 * longer holds". Any number of processes may call it at any time.
 */
export interface HoldingsCheck {
  /**
   * Makes the check of this UTC day, or goes on with it, unless it is done, in another
   * worker's hands, or not yet to be tried again. The day of the very first call ever counts
   * as checked.
   *
   * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach; to be called again
   */
  runDue(): Promise<DueOutcome>;
  /**
   * Checks now, whatever was checked before.
   *
   * @throws RetryableError as above
   */
  runNow(): Promise<CheckReport>;
  /**
   * Ends a pass in progress early and in order: what it has not read stays open, and the next
   * call, in any process, goes on there.
   */
  close(): Promise<void>;
}

/** The first retry after this long, each later one after twice as long, up to the maximum. */
const RETRY_AFTER_MS = 5_000;
const RETRY_AFTER_MS_MAX = 600_000;
/** Somebody waits for a run by hand: what moves just now gets one more chance. */
const MANUAL_PASSES_MAX = 2;
const MANUAL_PAUSE_MS = 1_000;

export function createHoldingsCheck(given: HoldingsCheckDeps): HoldingsCheck {
  const closing = new AbortController();
  const deps = { ...given, signal: closing.signal };
  const runDeps = { ...deps, worker: randomUUID() };
  const { pause = delay } = deps;
  let due: Promise<DueOutcome> | undefined;
  const runDue = async (): Promise<DueOutcome> => {
    const run = await takeDueRun(runDeps);
    if (run === null) return { kind: "nothing-due" };
    await deps.failpoint?.("forever.taken");
    return whileHolding(runDeps, run, async () => {
      const report = await makePass(deps, run);
      const retryAfterMs = isComplete(report) ? null : backOff(run.passes);
      const end: RunEnd =
        retryAfterMs === null
          ? { state: "done" }
          : { state: "running", nextTryAt: deps.clock.now() + retryAfterMs };
      await conclude(deps, run, { end, report });
      return { kind: "checked", report, retryAfterMs };
    });
  };
  return {
    async close() {
      closing.abort();
      await due?.catch(() => undefined);
    },
    runDue() {
      // The lease is the process', so within it the calls have to share one pass.
      due ??= runDue().finally(() => {
        due = undefined;
      });
      return due;
    },
    async runNow() {
      const run = await beginManualRun(runDeps);
      return whileHolding(runDeps, run, async () => {
        let report = await makePass(deps, run);
        for (let pass = 2; pass <= MANUAL_PASSES_MAX && !isComplete(report); pass += 1) {
          await pause(MANUAL_PAUSE_MS);
          report = await makePass(deps, run);
        }
        const state = isComplete(report) ? "done" : "incomplete";
        await conclude(deps, run, { end: { state }, report });
        return report;
      });
    },
  };
}

function backOff(passes: number): number {
  return Math.min(RETRY_AFTER_MS * 2 ** (passes - 1), RETRY_AFTER_MS_MAX);
}

export const WHOLE: readonly Part[] = [
  { collection: "A", attribution: null },
  { collection: "B", attribution: null },
];

export type PassDeps = HoldingsCheckDeps & { readonly signal: AbortSignal };

/** A mint, and what the run has still to look at there. */
export interface OpenMint extends CheckedMint {
  readonly parts: readonly Part[];
  /** What earlier passes of the run found held. */
  readonly keptBefore: number;
}

/** Looks at everything the run has left open: one reading of each collection serves all mints. */
async function makePass(deps: PassDeps, run: CheckRun): Promise<CheckReport> {
  const { sql } = deps;
  const open = openMints(await listMints(sql), await readMarks(sql, run));
  const empty = open.filter(({ counts }) => counts.length === 0);
  await markMints(
    sql,
    run,
    empty.map(({ id, keptBefore }) => ({ mint: id, kept: keptBefore, deferred: [] })),
  );
  const counting = open.filter(({ counts }) => counts.length > 0);
  const readings = await readFor(deps, counting);
  for (const { id, parts, keptBefore } of counting) {
    const mark = await checkMint(deps, { runId: run.id, mint: id, parts, readings });
    await deps.failpoint?.("forever.mark");
    await markMints(sql, run, [
      { mint: id, kept: keptBefore + mark.kept, deferred: mark.deferred },
    ]);
    await deps.failpoint?.("forever.marked");
  }
  return reportRun(sql, run);
}

function openMints(
  mints: readonly CheckedMint[],
  marks: ReadonlyMap<string, Mark>,
): readonly OpenMint[] {
  return mints.flatMap((mint) => {
    const mark = marks.get(mint.id);
    if (mark?.deferred.length === 0) return [];
    const parts = mark?.deferred ?? WHOLE;
    return [{ ...mint, parts, keptBefore: mark?.kept ?? 0 }];
  });
}

/** Reads the collections that any of the mints has open, both at once. */
export async function readFor(deps: PassDeps, mints: readonly OpenMint[]): Promise<Readings> {
  const wanted = (collection: Collection): boolean =>
    mints.some(
      ({ parts, counts }) =>
        counts.includes(collection) && parts.some((part) => part.collection === collection),
    );
  const [a, b] = await Promise.all(
    (["A", "B"] as const).map((collection) =>
      wanted(collection) ? readCollection(deps, collection) : null,
    ),
  );
  return { of: { A: a ?? null, B: b ?? null }, lookAt: createLookAt(deps) };
}

async function conclude(
  deps: HoldingsCheckDeps,
  run: CheckRun,
  { end, report }: { readonly end: RunEnd; readonly report: CheckReport },
): Promise<void> {
  await deps.failpoint?.("forever.reported");
  await endPass(deps, run, { end, report });
  const count = (of: "removed" | "deferred") =>
    report.mints.reduce((sum, mint) => sum + mint[of].length, 0);
  const facts = { run: run.id, day: run.day, kind: run.kind, pass: run.passes, state: end.state };
  deps.log[isComplete(report) ? "info" : "warn"](
    {
      ...facts,
      mints: report.mints.length,
      removed: count("removed"),
      deferred: count("deferred"),
    },
    "forever mints were checked",
  );
}
