import { holderOf } from "../audit/judge-decision.ts";
import { judgeStar } from "../audit/judge-star.ts";
import type { Ownerships } from "../audit/ownership.ts";
import { judgeSerials, wasExcluded } from "../audit/rebuild-weights.ts";
import type { Mismatch } from "../audit/report.ts";
import type { ExportHeader, ExportStar } from "../journal/export-format.ts";
import type { Notes } from "./recovery.ts";

/**
 * Whether a star's line in an export agrees with itself and with the histories of its NFTs; what
 * does not is a doubt.
 */
export function judgeLine(
  line: ExportStar,
  { excludedWallets: own, collections, day }: ExportHeader,
  given: {
    readonly ownerships: Ownerships;
    readonly notes: Notes;
    /** By the export of the day before; undefined: not known. */
    readonly excludedBefore: readonly string[] | undefined;
  },
): boolean {
  const { ownerships, notes, excludedBefore: before } = given;
  const place = { topic: null, sequenceNumber: null, message: line.message } as const;
  const holder = holderOf(line);
  const isExcluded = wasExcluded(holder, { own, before });
  const serials = judgeSerials(holder, { ownerships, isExcluded, place });
  const keys = { a: collections.a.key, b: collections.b.key };
  const found = [...judgeStar(line, { day, keys }), ...serials.mismatches];
  return isWithoutDoubt(`star ${line.id}`, found, notes);
}

/** Notes what was found against a star or a release of an export. @returns whether nothing was */
export function isWithoutDoubt(what: string, found: readonly Mismatch[], notes: Notes): boolean {
  for (const { kind, expected, found: seen } of found) {
    notes.doubt(`${what}, ${kind}: expected ${expected}, its export says ${seen}`);
  }
  return found.length === 0;
}
