import { compareEntityIds, isEntityId } from "../ledger/entity-id.ts";
import type { AuditState } from "./audit-state.ts";
import {
  type Bounds,
  boundsText,
  countersOf,
  type ItemBounds,
  isWithin,
  type Reading,
  type ShownCounter,
} from "./counters.ts";
import { boundsOfEvent } from "./event-accounts.ts";
import { PAGE, type Placed, type Ranked, type Rankings } from "./read-rankings.ts";
import { elsewhere, type Mismatch, orderMismatches } from "./report.ts";

/**
 * Compares published counters with those the records give, where these are known. Stars that reached
 * the topics after the reading may be in a counter or not: any value between is right.
 *
 * @returns `isAhead`: some show more than is on the ledger, so messages may still come; `unprovable`:
 *   counters that cannot be judged, and why
 */
export function compareRankings(state: AuditState, rankings: Rankings, reading: Reading) {
  const unprovable: string[] = [];
  const counters = [
    ...(["token", "collection", "project"] as const).flatMap((type) =>
      assetCounters(state, { type, rows: rankings[`${type}s`] }, reading),
    ),
    ...eventCounters(state, rankings, unprovable),
  ].filter((counter) => {
    const isHidden = !isWithin(counter) && hasHiddenNames(state, counter.where);
    if (isHidden) unprovable.push(`${counter.where}: ${HIDDEN}`);
    return !isHidden;
  });
  const others = [
    ...orderOf("tokens", rankings.tokens),
    ...orderOf("collections", rankings.collections),
    ...kindsOf(state, rankings),
  ];
  return { ...compareCounters(counters, others), unprovable };
}

export function compareCounters(counters: readonly ShownCounter[], others: readonly Mismatch[]) {
  const wrong = counters.filter((counter) => !isWithin(counter));
  const mismatches = wrong.map(({ where, expected, found }) =>
    elsewhere("ranking", where, { expected: boundsText(expected), found }),
  );
  return {
    compared: counters.length,
    mismatches: [...mismatches, ...others],
    isAhead: wrong.some(({ expected, found }) => found > expected.high),
  };
}

function assetCounters(
  state: AuditState,
  { type, rows }: { type: "token" | "collection" | "project"; rows: readonly Ranked[] },
  reading: Reading,
): readonly ShownCounter[] {
  return rows.flatMap((row) => {
    const item = `${type}/${row.id}`;
    const names = [item, ...namesOf(state, item)];
    const parts = names.map((name) => countersOf(state.counters, name, reading));
    const fields = ["totalVotes", "votes7d", "votes30d"] as const;
    return fields.map((field) => ({
      where: `${field} of ${item}`,
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

const HIDDEN = "messages may name it by a ledger id that only an export explains";

/** Where no export that was read says which project a message's ledger id means, it is unknown. */
function hasHiddenNames({ counters, aliases }: AuditState, where: string): boolean {
  if (!where.includes(" of project/")) return false;
  const names = [...counters.hours.keys(), ...counters.recent.map((star) => star.item)];
  return names.some((name) => isHiddenName(aliases, name));
}

function isHiddenName(aliases: AuditState["aliases"], name: string): boolean {
  return name.startsWith("project/") && isEntityId(name.slice(8)) && !aliases.has(name);
}

/** @param unprovable gets those of events whose total is in doubt */
function eventCounters(state: AuditState, { events }: Rankings, unprovable: string[]) {
  return events.flatMap(({ id, totalVotes: found }): ShownCounter[] => {
    const where = `totalVotes of event/${id}`;
    const missing = state.hasAllExports ? null : "the exports are not whole from the first day";
    const doubt = state.accounts.totals.get(id)?.doubt ?? missing;
    if (doubt !== null) unprovable.push(`${where}: ${doubt}`);
    const expected = boundsOfEvent(state.accounts, id) ?? { low: 0, high: 0 };
    return doubt === null ? [{ where, expected, found }] : [];
  });
}

/** An event that shows stars is a forever mint, or none, for good. */
function kindsOf({ foreverMints }: AuditState, { events }: Rankings): readonly Mismatch[] {
  return events.flatMap(({ id, isForeverMint: found, totalVotes }) => {
    const expected = foreverMints.get(id) ?? found;
    if (expected === found || totalVotes === 0) return [];
    const differing = { expected: String(expected), found: String(found) };
    return [elsewhere("event-type", `isForeverMint of event/${id}`, differing)];
  });
}

/** "totalVotes descending, then votes30d descending, then id (ledger ids by their number)". */
function orderOf(list: string, rows: readonly Placed[]): readonly Mismatch[] {
  return orderMismatches(`${list}/top`, rows, {
    compare: (one, other) =>
      other.totalVotes - one.totalVotes ||
      other.votes30d - one.votes30d ||
      compareEntityIds(one.id, other.id),
    nameOf: ({ id }) => id,
  });
}

/** A list that ends where the API's page ends may leave items out: they are not compared. */
export function cutLists({ tokens, collections, leaderboard }: Rankings): readonly string[] {
  const lists = { tokens, collections, wallets: leaderboard?.entries ?? [] };
  return Object.entries(lists)
    .filter(([, rows]) => rows.length >= PAGE)
    .map(([list]) => `${list} below place ${PAGE}: the API does not list them`);
}

const NAMED_MAX = 5;

/** What has stars and stands in no list: which records are approved is not public, so that may be right. */
export function unlistedItems(
  { counters, aliases, accounts }: AuditState,
  rankings: Rankings,
): readonly string[] {
  const listed = new Set(
    (["token", "collection", "project", "event"] as const).flatMap((type) =>
      rankings[`${type}s`].map(({ id }) => `${type}/${id}`),
    ),
  );
  const cut = (["token", "collection"] as const).filter(
    (type) => rankings[`${type}s`].length >= PAGE,
  );
  const starred = [
    ...[...counters.hours.keys()].map((name) => aliases.get(name) ?? name),
    ...[...accounts.totals.keys()].map((id) => `event/${id}`),
  ];
  const missed = new Set(
    starred.filter(
      (name) =>
        !listed.has(name) &&
        !isHiddenName(aliases, name) &&
        !cut.some((type) => name.startsWith(`${type}/`)),
    ),
  );
  if (missed.size === 0) return [];
  const named = [...missed].sort().slice(0, NAMED_MAX);
  const rest = missed.size > NAMED_MAX ? `, … ${missed.size} in all` : "";
  return [`in no list though starred, as where approval is withdrawn: ${named.join(", ")}${rest}`];
}
