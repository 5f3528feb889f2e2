import { judgeStar } from "../audit/judge-star.ts";
import type { Ownerships } from "../audit/ownership.ts";
import { judgeSerials } from "../audit/rebuild-weights.ts";
import type { Mismatch } from "../audit/report.ts";
import type { ExportHeader, ExportStar } from "../journal/export-format.ts";
import type { Notes } from "./recovery.ts";

/**
 * Whether a star's line in an export agrees with itself and with the histories of its NFTs; what
 * does not is a doubt.
 */
export function judgeLine(
  line: ExportStar,
  { excludedWallets, collections, day }: ExportHeader,
  { ownerships, notes }: { readonly ownerships: Ownerships; readonly notes: Notes },
): boolean {
  const { wallet, at, held } = line;
  const place = { topic: null, sequenceNumber: null, message: line.message } as const;
  const serials = judgeSerials(
    { wallet, at: Date.parse(at), held: { A: held.collectionA, B: held.collectionB } },
    { ownerships, isExcluded: excludedWallets.includes(wallet), place },
  );
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
