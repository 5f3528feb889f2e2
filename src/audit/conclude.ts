import { dayOf } from "../../actors/day.ts";
import { counted } from "../counted.ts";
import type { AuditState, Checked, Judge } from "./audit-state.ts";
import { closeDay, exportsThrough } from "./close-day.ts";
import { compareCounters, compareRankings, cutLists, unlistedItems } from "./compare.ts";
import { openDayBook } from "./day-book.ts";
import { doubtMints } from "./events-without-export.ts";
import { foldMintsThrough, judgeExportDay } from "./judge-export.ts";
import type { RankedWallet, Rankings } from "./read-rankings.ts";
import type { Margins } from "./rebuild-weights.ts";
import { addLine, addMismatches, type Findings } from "./report.ts";
import { boardCounters, boardOrder, judgeSeason } from "./season-board.ts";
import type { TopicChain } from "./topic-chain.ts";

export interface Conclusion extends Findings {
  readonly ok: boolean;
  readonly checked: Checked & { readonly rankings: number; readonly wallets: number };
  readonly topics: readonly TopicChain[];
  readonly margins: Margins;
  /** A ranking shows more than was read of the ledger: messages may still be on their way. */
  readonly isAhead: boolean;
}

/**
 * Judges the open days up to now and compares everything with the rankings. It works on a copy,
 * because those days are not over.
 */
export async function conclude(
  kept: AuditState,
  judge: Judge,
  {
    missing,
    rankings,
  }: {
    /** The last sequence number of each topic of which the mirror node left messages out. */
    readonly missing: ReadonlyMap<string, number>;
    readonly rankings: Rankings | null;
  },
): Promise<Conclusion> {
  const state = structuredClone(kept);
  for (const { topic, sequenceNumber } of state.chains) {
    const expected = missing.get(topic);
    if (expected === undefined) continue;
    const found = { expected, found: sequenceNumber, message: null };
    addMismatches(state.findings, [{ kind: "gap", topic, sequenceNumber, ...found }]);
  }
  await closeOpenDays(judge, state);
  if (judge.exports === null) doubtMints(state, judge.ownerships);
  const { findings, checked } = state;
  if (checked.beyondFree > 0) {
    const count = `${counted(checked.beyondFree, "wallet-day")} with more stars than a wallet without a pass has`;
    addLine(findings.unprovable, `${count}: only an export says whether a pass was on`);
  }
  if (judge.day !== null && checked.days + checked.exports === 0) {
    addLine(findings.notes, `${judge.day} has no star and no export: nothing of it was judged`);
  }
  const { compared, isAhead } =
    rankings === null ? NOTHING_COMPARED : judgeRankings(state, judge, rankings);
  for (const { topic, sequenceNumber } of state.chains) {
    if (sequenceNumber === 0) addLine(findings.notes, `topic ${topic} has no messages there`);
  }
  return {
    ok: findings.mismatchCount === 0,
    checked: { ...checked, rankings: compared, wallets: state.wallets.size },
    topics: state.chains,
    margins: state.margins,
    ...findings,
    isAhead: missing.size > 0 || (isAhead && mayComeStill(judge, checked)),
  };
}

/** Exports up to the reading hold every star: with all their messages read, nothing is left to come. */
function mayComeStill({ exports, reading }: Judge, { pendingStars }: Checked): boolean {
  const newest = exports?.days.at(-1) ?? "";
  return pendingStars > 0 || newest < dayOf(reading.until);
}

async function closeOpenDays(judge: Judge, state: AuditState): Promise<void> {
  for (const day of [...state.books.keys()].sort()) await closeDay(judge, state, day);
  if (judge.exports === null) return;
  const { days } = judge.exports;
  // Days after the last message: without stars, but perhaps with removals.
  for (const day of exportsThrough(state, days, days.at(-1) ?? "")) {
    await judgeExportDay(judge, state, openDayBook(day));
  }
  const last = state.exportChain?.day;
  if (last !== undefined) foldMintsThrough(judge, state, last);
}

const CLOCKS_DIFFER_MS = 60_000;
const NOTHING_COMPARED = { compared: 0, isAhead: false };

function judgeRankings(state: AuditState, judge: Judge, rankings: Rankings) {
  const { findings } = state;
  const { leaderboard } = rankings;
  if (leaderboard !== null) addMismatches(findings, judgeSeason(leaderboard.season, judge.reading));
  const isOneDay = judge.day !== null;
  const board =
    leaderboard === null || isOneDay ? NOTHING_COMPARED : judgeBoard(state, leaderboard.entries);
  const shown = isOneDay ? { ...rankings, events: [] } : rankings;
  const lists = compareRankings(state, shown, judge.reading);
  addMismatches(findings, lists.mismatches);
  const missed = [...cutLists(rankings), ...unlistedItems(state, rankings)];
  for (const line of [...lists.unprovable, ...missed]) addLine(findings.unprovable, line);
  for (const line of clockDoubt(rankings)) addLine(findings.notes, line);
  if (isOneDay) addLine(findings.unprovable, "event totals: --day judges one day alone");
  return {
    compared: board.compared + lists.compared,
    isAhead: board.isAhead || lists.isAhead,
  };
}

/** Of which day the rankings are, the API's clock says: another one shows where that may be wrong. */
function clockDoubt({ clocksDifferMs }: Rankings): readonly string[] {
  if (clocksDifferMs < CLOCKS_DIFFER_MS) return [];
  const seconds = Math.round(clocksDifferMs / 1_000);
  return [
    `the API's clock, which says of which day the rankings are, is ${seconds} s from this one`,
  ];
}

function judgeBoard(state: AuditState, entries: readonly RankedWallet[]) {
  const { board, totals } = state.accounts;
  const { unprovable } = state.findings;
  if (!board.isWhole) {
    addLine(unprovable, "leaderboard: --state started when another season was on");
    return NOTHING_COMPARED;
  }
  const hasWeights =
    state.hasAllExports && [...totals.values()].every(({ doubt }) => doubt === null);
  if (!hasWeights)
    addLine(unprovable, "weights on the leaderboard: those of some events are not proved");
  const counters = boardCounters(board, entries, { hasWeights });
  const comparison = compareCounters(counters, boardOrder(entries));
  addMismatches(state.findings, comparison.mismatches);
  return comparison;
}
