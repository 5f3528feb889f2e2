import { type Day, endOfDay, startOfDay } from "../../actors/day.ts";
import { type ExportHeader, type ExportStar, GENESIS } from "../journal/export-format.ts";
import { isEntityId } from "../ledger/entity-id.ts";
import type { AuditState, Judge } from "./audit-state.ts";
import type { DayBook } from "./day-book.ts";
import { closeEventDay } from "./event-accounts.ts";
import { ProvisionalChanged } from "./export-source.ts";
import {
  countExportedStar,
  holderOf,
  isPassOutside,
  judgeSlots,
  judgeStar,
  placeOf,
} from "./judge-star.ts";
import { asRead, leftOver, matchMessage } from "./match-messages.ts";
import { addRelease, foldMint, judgeRelease, overdueRemovals, splitAfter } from "./mint-order.ts";
import { readExport } from "./read-export.ts";
import { judgeSerials, LAG_MS, LEAD_MS, wasExcluded } from "./rebuild-weights.ts";
import {
  addKnown,
  addLine,
  addMismatches,
  addVerdict,
  elsewhere,
  type Mismatch,
} from "./report.ts";

const OUTSIDE = "the leaderboard's season was not on, unless its dates were moved since";

/**
 * Judges one day's export against the messages of that day and against the NFTs' histories, and
 * counts the events' weights from it. The day book is empty afterwards.
 *
 * @throws ProvisionalChanged
 */
export async function judgeExportDay(
  judge: Judge,
  state: AuditState,
  book: DayBook,
): Promise<void> {
  const { day } = book;
  const { exports } = judge;
  if (exports === null) return;
  const add = (found: readonly Mismatch[]): void => addMismatches(state.findings, found);
  const slots = new Map<string, { at: number; slot: number }[]>();
  const unpublished = new Map<string, readonly Mismatch[]>();
  let topics: ExportHeader["topics"] = { event: null, asset: null };
  let excluded: readonly string[] = [];
  let isWhole = true;
  const before = state.exportChain;
  for await (const part of readExport(exports.source, day, before ?? undefined)) {
    if (part.kind === "header") {
      topics = part.topics;
      excluded = part.excludedWallets;
      isWhole = part.final || exports.source.isLive;
      judgeChain(judge, state, { day, header: part });
      add(judgeHeader(judge, part));
    } else if (part.kind === "star") {
      state.checked.exportedStars += 1;
      add(judgeStar(part, { day, keys: judge.keys }));
      if (isPassOutside(part, state.accounts.board.season))
        addLine(state.findings.unprovable, `passes on ${day}: ${OUTSIDE}`);
      add(await matchMessage(judge, { state, book, topics, unpublished }, part));
      const own = slots.get(part.wallet) ?? [];
      slots.set(part.wallet, own);
      own.push({ at: Date.parse(part.at), slot: part.slot });
      judgeHeld(judge, state, { star: part, excluded });
      add(accountFor(judge, state, { star: asRead(part, book), book }));
    } else if (part.kind === "release") {
      const ownerships = isBeforeNfts(judge, part.releasedAt) ? judge.ownerships : null;
      add(judgeRelease(part, { day, ownerships, isExcluded: excluded.includes(part.wallet) }));
      if (hasHistory(judge, state)) addRelease(pendingOf(state, part.mint), part, day);
    } else if (part.kind === "export") {
      add([part]);
    } else if (part.kind === "changing") {
      throw new ProvisionalChanged(
        `the export of ${day}, which is not final, ${part.why}: audit again`,
      );
    } else if (part.kind === "rejoined") {
      addKnown(state.findings, { kind: "chain", topic: null, sequenceNumber: null, day });
    } else {
      state.exportChain = part;
    }
  }
  add(judgeSlots(slots, day));
  add(await leftOver(judge, { state, book, unpublished, isWhole }));
  if (before !== null) foldMintsThrough(judge, state, before.day);
  closeEventDay(state.accounts, day);
  state.checked.exports += 1;
}

/** Whether the NFTs were read after an instant: what came later the next audit judges. */
function isBeforeNfts({ ownedAt }: Judge, at: string): boolean {
  return Date.parse(at) < ownedAt - LEAD_MS;
}

/** The serials that a star shows, against the NFTs' histories. */
function judgeHeld(
  judge: Judge,
  { exportChain: before, findings }: AuditState,
  { star, excluded }: { star: ExportStar; excluded: readonly string[] },
): void {
  if (!isBeforeNfts(judge, star.at)) return;
  const { ownerships } = judge;
  const holder = holderOf(star);
  const isExcluded = wasExcluded(holder, { own: excluded, before: before?.excluded });
  addVerdict(findings, judgeSerials(holder, { ownerships, isExcluded, place: placeOf(star) }));
}

/** Counts what the exports read so far say of forever mints, up to the end of a day. */
export function foldMintsThrough(judge: Judge, state: AuditState, day: Day): void {
  if (!hasHistory(judge, state)) return;
  const span = { from: startOfDay(day) - LAG_MS, to: endOfDay(day) };
  for (const [event, happenings] of state.mints) {
    const { due, left } = splitAfter(happenings, day);
    addMismatches(state.findings, foldMint({ ...state, reading: judge.reading }, due));
    state.mints.set(event, left);
    const mint = state.accounts.mints.get(event);
    // A day that is not over may still remove what it should.
    if (mint === undefined || span.to > judge.reading.from) continue;
    const { ownerships } = judge;
    addMismatches(state.findings, overdueRemovals(mint, { event, span, ownerships }));
  }
}

/** Whether the journal's days so far have been read whole, one after the other, from the first. */
function followsOn(
  { exportChain: before, closedThrough }: AuditState,
  { day, previous }: ExportHeader,
  isLive: boolean,
): boolean {
  if (before !== null) {
    return startOfDay(day) === endOfDay(before.day) && (isLive || before.hash !== null);
  }
  return previous === GENESIS || (previous === null && closedThrough === null);
}

/** What counts on a forever mint is known only with everything that came before. */
function hasHistory({ day }: Judge, { hasAllExports }: AuditState): boolean {
  return day === null && hasAllExports;
}

/** Whether the export follows on those before it, as far as that can be known. */
function judgeChain(
  { exports }: Judge,
  state: AuditState,
  { day, header }: { readonly day: Day; readonly header: ExportHeader },
): void {
  const { exportChain: before, findings } = state;
  if (!followsOn(state, header, exports?.source.isLive === true)) state.hasAllExports = false;
  if (!header.final || before?.hash !== null) return;
  const doubt = `whether ${day} follows ${before.day}: that was not final when it was read`;
  addLine(findings.unprovable, doubt);
}

function judgeHeader(judge: Judge, header: ExportHeader): readonly Mismatch[] {
  const { a, b } = header.collections;
  const expected = wordsOf(judge.collections, judge.keys);
  const found = wordsOf({ a: a.id, b: b.id }, { a: a.key, b: b.key });
  return expected === found ? [] : [elsewhere("export", header.day, { expected, found })];
}

function wordsOf(ids: Judge["collections"], keys: Judge["keys"]): string {
  return `collections ${ids.a} "${keys.a}" and ${ids.b} "${keys.b}"`;
}

/** Counts a star's weight where it is for an event, and remembers by which id its message names a project. */
function accountFor(
  judge: Judge,
  state: AuditState,
  { star, book }: { star: ExportStar; book: DayBook },
): readonly Mismatch[] {
  if (star.scope === "event-day") return countExportedStar(state, star, judge.reading);
  if (star.scope === "none")
    return star.target.type === "project" ? nameProject(state, star, book) : [];
  if (!hasHistory(judge, state)) {
    const doubt = "weights on forever mints: they follow from the exports of all days before";
    addLine(state.findings.unprovable, doubt);
    return [];
  }
  const order = star.mintOrder ?? star.seq;
  pendingOf(state, star.target.id).push({ order, day: book.day, star });
  return [];
}

/** Remembers by which ledger id a star's message names its project: the id stays that project's. */
function nameProject(
  state: AuditState,
  star: ExportStar,
  { day, wallets }: DayBook,
): readonly Mismatch[] {
  const { target, wallet, message } = star;
  const named = /"target_id":"(?<id>[^"]*)"/.exec(message)?.groups?.id ?? target.id;
  if (!isEntityId(named)) return [];
  const found = `project/${target.id}`;
  const expected = state.aliases.get(`project/${named}`) ?? found;
  state.aliases.set(`project/${named}`, expected);
  if (expected !== found) {
    return [{ ...placeOf(star), kind: "export", where: day, expected, found }];
  }
  // A second star under one and the same name was found when its message was read.
  const own = wallets.get(wallet)?.items ?? [];
  const names = own.filter((item) => (state.aliases.get(item) ?? item) === found);
  if (new Set(names).size < 2) return [];
  const once = { expected: `one star for ${found}`, found: names.join(", ") };
  return [{ ...placeOf(star), kind: "once-per-day", where: day, ...once }];
}

function pendingOf(state: AuditState, mint: string) {
  const pending = state.mints.get(mint) ?? [];
  state.mints.set(mint, pending);
  return pending;
}
