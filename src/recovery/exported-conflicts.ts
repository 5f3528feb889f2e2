import { exceptionLines } from "../audit/known-messages.ts";
import { dayOfStarId } from "../journal/star-id.ts";
import { runStatement } from "../store/postgres.ts";
import { type Notes, PIECE_WITHIN_MS, type Recovery } from "./recovery.ts";
import { findStars } from "./staged-stars.ts";

/**
 * Marks the messages that exports name as conflicts of an earlier loss. Most conflicts rest on what
 * the journal lacked then, so messages alone do not show them. A conflict whose first star is
 * unknown, or breaks no rule with it, is a doubt.
 */
export async function markExportedConflicts(
  { sql, exports }: Pick<Recovery, "sql" | "exports">,
  notes: Notes,
): Promise<void> {
  if (exports === null) return;
  for (const day of exports.days) {
    const exceptions = await exceptionLines(exports.source, day);
    const conflicts = exceptions.flatMap((line) => (line.kind === "conflict" ? [line] : []));
    if (conflicts.length === 0) continue;
    const ids = conflicts.map(({ id }) => id);
    const { staged, known } = await findStars(sql, ids);
    const exported = conflicts.filter(({ id, message }) => staged.get(id)?.message === message);
    const rows = exported.map(({ id, conflictsWith }) => {
      return { id, conflicts_with: conflictsWith, first_day: dayOfStarId(conflictsWith) };
    });
    const marked = await runStatement(
      sql<{ id: string }[]>`select mark_conflicts(${JSON.stringify(rows)}::text::json) as id`,
      PIECE_WITHIN_MS,
    );
    const shown = new Set([...marked.map(({ id }) => id), ...known]);
    for (const { id, conflictsWith } of conflicts) {
      if (!staged.has(id) && !known.has(id)) {
        notes.ignore(`export of ${day}: star ${id} has no such message`);
      } else if (!shown.has(id)) {
        notes.doubt(
          `export of ${day}: nothing shows that star ${id} conflicts with ${conflictsWith}`,
        );
      }
    }
  }
}
