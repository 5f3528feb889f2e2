import type { Day } from "../../actors/day.ts";

/** What can be wrong with a published record or ranking; docs/verifying.md says each in a line. */
export type MismatchKind =
  | "gap"
  | "chain"
  | "consensus-order"
  | "foreign"
  | "duplicate"
  | "once-per-day"
  | "same-instant"
  | "event-type"
  | "wrong-day"
  | "allowance"
  | "unknown-wallet"
  | "voting-power"
  | "holdings"
  | "no-star"
  | "no-message"
  | "message-differs"
  | "export"
  | "event-weight"
  | "counted-twice"
  | "removal"
  | "ranking"
  | "order-of-ranking";

export interface Mismatch {
  readonly kind: MismatchKind;
  /** Null for what is not about one message. */
  readonly topic: string | null;
  readonly sequenceNumber: number | null;
  readonly starId?: string | null;
  /** Where else to look: a ranking's field, an export's day. */
  readonly where?: string | null;
  readonly expected: string | number;
  readonly found: string | number;
  readonly message: string | null;
}

/** A mismatch that is about no one message. @param where to look: a ranking's field, an export's day */
export function elsewhere<Kind extends MismatchKind>(
  kind: Kind,
  where: string,
  { expected, found }: Pick<Mismatch, "expected" | "found">,
): Mismatch & { readonly kind: Kind } {
  return { kind, topic: null, sequenceNumber: null, message: null, where, expected, found };
}

/**
 * The first entry of a ranking that bears another rank than its place, stands there a second time, or
 * stands before one that is ahead of it.
 *
 * @param compare below 0 where the one stands before the other
 */
export function orderMismatches<Row extends { readonly rank: number }>(
  where: string,
  rows: readonly Row[],
  {
    compare,
    nameOf,
  }: {
    readonly compare: (one: Row, other: Row) => number;
    readonly nameOf: (row: Row) => string;
  },
): readonly Mismatch[] {
  const names = rows.map(nameOf);
  for (const [index, one] of rows.entries()) {
    const first = names.indexOf(nameOf(one));
    if (first !== index) {
      const expected = `${nameOf(one)} at ${first + 1} alone`;
      return [elsewhere("order-of-ranking", where, { expected, found: `at ${index + 1} too` })];
    }
    if (one.rank !== index + 1) {
      const expected = `${nameOf(one)} with rank ${index + 1}`;
      return [elsewhere("order-of-ranking", where, { expected, found: one.rank })];
    }
    const other = rows[index + 1];
    if (other === undefined || compare(one, other) < 0) continue;
    const expected = `${nameOf(other)} before ${nameOf(one)}`;
    const found = `${nameOf(one)} at ${index + 1}, ${nameOf(other)} at ${index + 2}`;
    return [elsewhere("order-of-ranking", where, { expected, found })];
  }
  return [];
}

export interface Place {
  readonly topic: string;
  readonly sequenceNumber: number;
  readonly message: string;
}

/** What differs from the rules and is accounted for in public; counted nowhere. */
export interface KnownMatter {
  /**
   * `conflict`: a star beside one that was lost and came back. `lost`: a star that the operator went
   * on without. `chain`: a day whose export follows another chain, because stars came back.
   */
  readonly kind: "conflict" | "lost" | "chain";
  readonly topic: string | null;
  readonly sequenceNumber: number | null;
  /** The export's day that says so. */
  readonly day: Day;
  /** Of a conflict, and the star that was first on the ledger. */
  readonly starId?: string | null;
  readonly conflictsWith?: string | null;
}

/** Mismatches kept in full; beyond them they are only counted, so that memory stays bounded. */
const KEPT_MAX = 1_000;
/** Notes and unprovable matters are one line each; a reader needs no more than this many. */
const LINES_MAX = 200;

/** Everything an audit has found so far; plain data, a part of the checkpoint. */
export interface Findings {
  mismatches: Mismatch[];
  mismatchCount: number;
  byKind: Record<string, number>;
  /** What could be neither proved nor refuted, and what would be needed. */
  unprovable: string[];
  notes: string[];
  known: KnownMatter[];
  knownCount: number;
}

export function noFindings(): Findings {
  return {
    mismatches: [],
    mismatchCount: 0,
    byKind: {},
    unprovable: [],
    notes: [],
    known: [],
    knownCount: 0,
  };
}

export function addKnown(findings: Findings, matter: KnownMatter): void {
  findings.knownCount += 1;
  if (findings.known.length < KEPT_MAX) findings.known.push(matter);
}

export function addMismatches(findings: Findings, found: readonly Mismatch[]): void {
  for (const mismatch of found) {
    findings.mismatchCount += 1;
    findings.byKind[mismatch.kind] = (findings.byKind[mismatch.kind] ?? 0) + 1;
    if (findings.mismatches.length < KEPT_MAX) findings.mismatches.push(mismatch);
  }
}

export interface Verdict {
  readonly mismatches: readonly Mismatch[];
  /** A line, when the mirror node's history does not go back far enough to refute anything. */
  readonly unprovable?: string;
}

export function addVerdict(findings: Findings, { mismatches, unprovable }: Verdict): void {
  addMismatches(findings, mismatches);
  if (unprovable !== undefined) addLine(findings.unprovable, unprovable);
}

export function addLine(lines: string[], line: string): void {
  if (lines.length < LINES_MAX && !lines.includes(line)) lines.push(line);
}
