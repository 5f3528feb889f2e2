import type { Day } from "../../actors/day.ts";
import { readHeader } from "../audit/learn-settings.ts";
import { headerOf, makeFinal, nextFinalDay } from "../journal/export-days.ts";
import { hashExport } from "../journal/write-export.ts";
import type { Notes, Recovered, Recovery } from "./recovery.ts";

/**
 * Makes the days final that are over, oldest first. A day whose final export is given gets its
 * header, and so its bytes and its hash, if the journal has come back to them. Any other day that
 * got stars back is marked in its header and follows a new chain.
 */
export async function renewDays(
  { sql, settings, exports }: Recovery,
  notes: Notes,
): Promise<Pick<Recovered, "exact" | "renewed">> {
  const exact: Day[] = [];
  const renewed: Day[] = [];
  for (;;) {
    const next = await nextFinalDay(sql);
    if (next === null) return { exact, renewed };
    const { day, previous, isRecovered } = next;
    const given = exports?.days.includes(day) ? await readHeader(exports.source, day) : null;
    const sha256 = given?.final ? await hashOf(exports, day) : null;
    const same = given && sha256 ? await hashExport(sql, given, { expected: sha256 }) : null;
    if (given && same) {
      await makeFinal(sql, given, same);
      exact.push(day);
      continue;
    }
    if (sha256 !== null)
      notes.doubt(`export of ${day}: the journal did not come back to its bytes`);
    const header = headerOf(day, settings, previous, isRecovered);
    const written = await hashExport(sql, header);
    if (written === null) return { exact, renewed };
    await makeFinal(sql, header, written);
    if (isRecovered) renewed.push(day);
  }
}

/** The hash in the footer of a given export. */
async function hashOf(exports: Recovery["exports"], day: Day): Promise<string | null> {
  let last = "";
  if (exports !== null) for await (const line of exports.source.lines(day)) last = line;
  const footer: { readonly sha256?: string } = JSON.parse(last === "" ? "{}" : last);
  return footer.sha256 ?? null;
}
