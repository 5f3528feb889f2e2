import type { Day } from "../../actors/day.ts";
import { readHeader } from "../audit/export-source.ts";
import { headerOf, makeFinal, nextFinalDay } from "../journal/export-days.ts";
import { hashExport } from "../journal/write-export.ts";
import { countLost } from "../publishing/journal-behind.ts";
import { runLong, type Sql } from "../store/postgres.ts";
import type { Notes, Recovered, Recovery } from "./recovery.ts";

/**
 * Makes the days final that are over, oldest first. A day whose final export is given gets its
 * header, and so its bytes and its hash, if the journal has come back to them. Any other day that
 * got stars back is marked in its header and follows a new chain. None becomes final while the topics of
 * other settings hold stars that the journal lacks.
 */
export async function renewDays(
  { sql, settings, exports }: Recovery,
  notes: Notes,
): Promise<Pick<Recovered, "exact" | "renewed">> {
  const exact: Day[] = [];
  const renewed: Day[] = [];
  const isBehind = (await countLost(sql)) > 0;
  for (;;) {
    const next = isBehind ? null : await nextFinalDay(sql);
    if (next === null) return { exact, renewed };
    const { day, previous, isRecovered } = next;
    const given = await readGiven(exports, day);
    const same = given && (await hashExport(sql, given.header, { expected: given.sha256 }));
    if (given && same) {
      await makeFinal(sql, given.header, same);
      exact.push(day);
      continue;
    }
    if (given !== null) notes.doubt(`export of ${day}: the journal did not come back to its bytes`);
    const isNew = isRecovered || (await breaksChain(sql, exports, day));
    const header = headerOf(day, next.settings ?? settings, previous, isNew);
    const written = await hashExport(sql, header);
    if (written === null) return { exact, renewed };
    await makeFinal(sql, header, written);
    if (isNew) renewed.push(day);
  }
}

/**
 * Whether a day that got no star back is a new one all the same: it follows a new chain, and a later export
 * that is given follows the old one. The day is then marked, so that an auditor knows why.
 */
async function breaksChain(sql: Sql, exports: Recovery["exports"], day: Day): Promise<boolean> {
  if (!exports?.days.some((each) => each > day)) return false;
  const marked = await runLong(sql`
    insert into recovered_day (day)
    select ${day} from (select header from export_day order by day desc limit 1) as last
    where header::json ->> 'recovered' = 'true'
    on conflict do nothing returning 1`);
  return marked.length > 0;
}

/** A final export that is given, and its hash; one that is damaged was noted when its stars were read. */
async function readGiven(exports: Recovery["exports"], day: Day) {
  if (!exports?.days.includes(day)) return null;
  try {
    const header = await readHeader(exports.source, day);
    if (header.day !== day || !header.final) return null;
    let last = "";
    for await (const line of exports.source.lines(day)) last = line;
    const { sha256 = null }: { readonly sha256?: string | null } = JSON.parse(last);
    return sha256 === null ? null : { header, sha256 };
  } catch {
    return null;
  }
}
