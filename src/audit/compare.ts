import { compareEntityIds, isEntityId } from "../ledger/entity-id.ts";
import type { AuditState } from "./audit-state.ts";
import { type Bounds, boundsText, countersOf, type ItemBounds, type Reading } from "./counters.ts";
import { boundsOfEvent } from "./event-accounts.ts";
import { PAGE, type Ranked, type Rankings } from "./read-rankings.ts";
import { elsewhere, type Mismatch, orderMismatches } from "./report.ts";

/** One published number beside what the records give. */
export interface ComparedCounter {
  readonly item: string;
  readonly field: "totalVotes" | "votes7d" | "votes30d";
  readonly expected: Bounds;
  readonly found: number;
}

/** How the published rankings stand to the records. */
export interface Comparison {
  readonly compared: number;
  readonly mismatches: readonly Mismatch[];
  /** Whether any shows more than is on the ledger: messages may still come. */
  readonly isAhead: boolean;
  /** Items whose counter cannot be judged, and why. */
  readonly unprovable: readonly string[];
}

/**
 * Compares every published counter with the one the records give. Stars that reached the topics
 * after the reading may be in a counter or not: any value between is right.
 */
export function compareRankings(
  state: AuditState,
  rankings: Rankings,
  reading: Reading,
): Comparison {
  const counters = (["token", "collection", "project"] as const).flatMap((type) =>
    assetCounters(state, { type, rows: rankings[`${type}s`] }, reading),
  );
  const events = eventCounters(state, rankings);
  const all = [...counters, ...events.counters];
  const wrong = all.filter(({ expected, found }) => found < expected.low || found > expected.high);
  const mysterious = wrong.filter(({ item }) => isHidden(state, item));
  const certain = wrong.filter((counter) => !mysterious.includes(counter));
  return {
    compared: all.length - mysterious.length,
    mismatches: [
      ...certain.map(mismatchOf),
      ...orderOf("tokens", rankings.tokens),
      ...orderOf("collections", rankings.collections),
    ],
    isAhead: certain.some(({ expected, found }) => found > expected.high),
    unprovable: [
      ...events.unprovable,
      ...mysterious.map(
        ({ item, field }) =>
          `${field} of ${item}: messages may name it by a ledger id that only an export explains`,
      ),
    ],
  };
}

function assetCounters(
  state: AuditState,
  { type, rows }: { type: "token" | "collection" | "project"; rows: readonly Ranked[] },
  reading: Reading,
): readonly ComparedCounter[] {
  return rows.flatMap((row) => {
    const item = `${type}/${row.id}`;
    const names = [item, ...namesOf(state, item)];
    const parts = names.map((name) => countersOf(state.counters, name, reading));
    const fields = ["totalVotes", "votes7d", "votes30d"] as const;
    return fields.map((field) => ({
      item,
      field,
      expected: sum(parts, field),
      found: row[field],
    }));
  });
}

function sum(parts: readonly ItemBounds[], field: keyof ItemBounds): Bounds {
  return {
    low: parts.reduce((total, part) => total + part[field].low, 0),
    high: parts.reduce((total, part) => total + part[field].high, 0),
  };
}

/** The other name of an item in messages. */
function namesOf(state: AuditState, item: string): readonly string[] {
  if (!item.startsWith("project/")) return [];
  return [...state.aliases].filter(([, id]) => id === item).map(([name]) => name);
}

/** Without an export it is unknown which project a message's ledger id means. */
function isHidden(state: AuditState, item: string): boolean {
  if (!item.startsWith("project/") || state.checked.exports > 0) return false;
  const names = [...state.counters.hours.keys(), ...state.counters.recent.map((star) => star.item)];
  return names.some((name) => name.startsWith("project/") && isEntityId(name.slice(8)));
}

function eventCounters(state: AuditState, { events }: Rankings) {
  const counters: ComparedCounter[] = [];
  const unprovable: string[] = [];
  for (const { id, totalVotes: found } of events) {
    const item = `event/${id}`;
    const doubt = state.accounts.totals.get(id)?.doubt ?? null;
    const missing = state.hasAllExports ? null : "the exports do not begin with the first day";
    if (doubt !== null || missing !== null) {
      unprovable.push(`totalVotes of ${item}: ${doubt ?? missing}`);
      continue;
    }
    const expected = boundsOfEvent(state.accounts, id) ?? { low: 0, high: 0 };
    counters.push({ item, field: "totalVotes", expected, found });
  }
  return { counters, unprovable };
}

function mismatchOf({ item, field, expected, found }: ComparedCounter): Mismatch {
  return elsewhere("ranking", `${field} of ${item}`, { expected: boundsText(expected), found });
}

/** "totalVotes descending, then votes30d descending, then id (ledger ids by their number)". */
function orderOf(list: string, rows: readonly Ranked[]): readonly Mismatch[] {
  return orderMismatches(`${list}/top`, rows, {
    compare: (one, other) =>
      other.totalVotes - one.totalVotes ||
      other.votes30d - one.votes30d ||
      compareEntityIds(one.id, other.id),
    nameOf: ({ id }) => id,
  });
}

/** A list that ends where the API's page ends may leave items out: they are not compared. */
export function cutLists(rankings: Rankings): readonly string[] {
  return (["tokens", "collections"] as const)
    .filter((list) => rankings[list].length >= PAGE)
    .map((list) => `${list} below place ${PAGE}: the API does not list them`);
}
