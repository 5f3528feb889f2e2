import { voteLimit } from "../../actors/allowance.ts";
import { type Day, endOfDay } from "../../actors/day.ts";
import type { AuditState, Judge } from "./audit-state.ts";
import { type DayBook, openDayBook } from "./day-book.ts";
import { closeEventDay, totalOf } from "./event-accounts.ts";
import { countWithoutExport } from "./events-without-export.ts";
import { judgeExportDay } from "./judge-export.ts";
import { addLine, addMismatches, elsewhere } from "./report.ts";

/** Closes the days for which no message may come any more, at this consensus time (epoch ms). */
export async function closeDaysBefore(
  judge: Judge,
  state: AuditState,
  consensusMs: number,
): Promise<void> {
  const { exports, stateFile } = judge;
  for (const day of [...state.books.keys()].sort()) {
    // Where an audit goes on from here, an export that is not there yet, or not whole, may be by then.
    if (exports !== null && stateFile !== null && day >= (exports.days.at(-1) ?? "")) return;
    if (endOfDay(day) + judge.lateMs < consensusMs) await closeDay(judge, state, day);
  }
}

/** Judges a day as a whole, with those before it that have no messages, and forgets it. */
export async function closeDay(judge: Judge, state: AuditState, day: Day): Promise<void> {
  const book = state.books.get(day) ?? openDayBook(day);
  if (judge.exports === null) closeWithoutExport(judge, state, book);
  else await closeWithExports(judge, judge.exports, { state, book });
  state.books.delete(day);
  state.closedThrough = day;
  state.checked.days += 1;
}

function closeWithoutExport(judge: Judge, state: AuditState, book: DayBook): void {
  countWithoutExport(state, book, judge);
  closeEventDay(state.accounts, book.day);
  for (const { ats } of book.wallets.values()) {
    if (ats.length > voteLimit(book.day, null)) state.checked.beyondFree += 1;
  }
}

async function closeWithExports(
  judge: Judge,
  { source, days }: NonNullable<Judge["exports"]>,
  { state, book }: { readonly state: AuditState; readonly book: DayBook },
): Promise<void> {
  for (const day of exportsThrough(state, days, book.day)) {
    await judgeExportDay(judge, state, day === book.day ? book : openDayBook(day));
  }
  if (days.includes(book.day)) return;
  const [first] = days;
  const last = days.at(-1);
  const isWithin = first !== undefined && last !== undefined && first < book.day && book.day < last;
  if (isWithin || source.listed(book.day) === null) {
    const differing = { expected: "days without a gap", found: "no export of this day" };
    addMismatches(state.findings, [elsewhere("export", book.day, differing)]);
  }
  addLine(state.findings.unprovable, `events on ${book.day}: there is no export of that day`);
  for (const event of book.events.keys()) {
    totalOf(state.accounts, event).doubt ??= `no export of ${book.day}`;
  }
}

/** Exported days that have not been judged, up to a day. */
export function exportsThrough(
  { exportChain }: AuditState,
  days: readonly Day[],
  through: Day,
): readonly Day[] {
  return days.filter((day) => day <= through && day > (exportChain?.day ?? ""));
}
