import { dayOf } from "../../../actors/day.ts";
import { instantOfStarId } from "../../../src/journal/star-id.ts";
import { RAISED } from "../../../src/store/postgres.ts";
import type { Journal, Statement } from "./statement.ts";
import {
  allOrNothing,
  claimKey,
  type EndRow,
  type ProgressRow,
  type RunRow,
  type StarRow,
  StatementError,
  type Tables,
} from "./tables.ts";

/** Claims on a mint that are to end with a star. */
export interface Ending {
  readonly mint: string;
  readonly entries: readonly EndRow[];
}

const AHEAD_MAX_MS = 3_600_000;

/** The statements of the daily check, and of what a star proves sold, as migrations/005 has them. */
export const mintStatements: readonly Statement[] = [
  {
    name: "mint checked",
    phrase: "select id from holdings_check_run run",
    run: (given, { tables }) => {
      const [day, mint] = given as [string, string];
      return () => {
        const known = [...tables.runs].find(([, run]) => run.day === day);
        if (known === undefined) return [];
        const [id, { state }] = known;
        const isDone = tables.progress.get(`${id}/${mint}`)?.deferred.length === 0;
        return isDone || state === "skipped" || state === "done" ? [{ id }] : [];
      };
    },
  },
  {
    name: "find claims",
    phrase: "as asked (serial)",
    run: (given, { tables }) => {
      const [serials, mint, collection] = given as [number[], string, "A" | "B"];
      return () => [...serials].sort(ascending).flatMap(claimOn(tables, mint, collection));
    },
  },
  {
    name: "read claims",
    phrase: "and serial > $",
    run: (given, { tables }) => {
      const [mint, collection, after, most] = given as [string, "A" | "B", number, number];
      return () =>
        serialsOn(tables, mint, collection)
          .filter((serial) => serial > after)
          .slice(0, most)
          .flatMap(claimOn(tables, mint, collection));
    },
  },
  {
    name: "list mints",
    phrase: "select mint.id, array(",
    run: (_given, { tables }) => {
      const mints = [...tables.targets].flatMap(([key, { eventKind }]) =>
        eventKind === "FOREVER_MINT" ? [key.slice("event/".length)] : [],
      );
      return () =>
        mints.sort().map((id) => ({
          id,
          counts: (["A", "B"] as const).filter((of) => serialsOn(tables, id, of).length > 0),
        }));
    },
  },
  {
    name: "take run",
    phrase: "from take_holdings_check(",
    run: (given, journal) => {
      const [day, worker, at, leaseMs] = given as [string, string, number, number];
      return () => takeRun(journal, { day, worker, at, leaseMs });
    },
  },
  {
    name: "renew run",
    phrase: "update holdings_check_run set lease_until =",
    run: (given, { tables }) => {
      const [leaseUntil, id, worker] = given as [number, string, string];
      return () => changeRun(tables, { id, worker }, { leaseUntil });
    },
  },
  {
    name: "end pass",
    phrase: "update holdings_check_run set state =",
    run: (given, { tables }) => {
      const [state, , nextTryAt, uncounted, id, worker] = given as [
        RunRow["state"],
        number | null,
        number,
        number,
        string,
        string,
      ];
      const change = { state, nextTryAt, leaseOwner: null, leaseUntil: 0 };
      return () => {
        const passes = (tables.runs.get(id)?.passes ?? 0) - uncounted;
        return changeRun(tables, { id, worker }, { ...change, passes });
      };
    },
  },
  {
    name: "read progress",
    phrase: "select event_id, kept, deferred from holdings_check_mint",
    run: (given, { tables }) => {
      const [id] = given as [string];
      return () =>
        [...tables.progress]
          .filter(([key]) => key.startsWith(`${id}/`))
          .map(([key, row]) => ({ event_id: key.slice(id.length + 1), ...row }));
    },
  },
  {
    name: "save progress",
    phrase: "insert into holdings_check_mint",
    run: (given, { tables }) => {
      const [id, text, , worker] = given as [string, string, string, string];
      const rows = JSON.parse(text) as ({ readonly mint: string } & ProgressRow)[];
      return () => {
        const run = tables.runs.get(id);
        const isHeld = run?.state === "running" && run.leaseOwner === worker;
        if (!isHeld) return Object.assign([], { count: 0 });
        for (const { mint, kept, deferred } of rows) {
          tables.progress.set(`${id}/${mint}`, { kept, deferred });
        }
        return Object.assign([], { count: rows.length });
      };
    },
  },
  {
    name: "release claims",
    phrase: "select from release_claims(",
    run: (given, journal) => {
      const [, mint, text, notAfter] = given as [string, string, string, number];
      const entries = JSON.parse(text) as readonly EndRow[];
      if (journal.now() > notAfter) {
        throw new StatementError(RAISED.tooLate, "the deadline of this batch has passed");
      }
      return () => allOrNothing(journal.tables, () => releaseClaims(journal, { mint, entries }));
    },
  },
];

const ascending = (one: number, other: number): number => one - other;

function serialsOn(tables: Tables, mint: string, collection: "A" | "B"): readonly number[] {
  const prefix = claimKey(mint, null, { collection, serial: 0 }).slice(0, -1);
  return [...tables.claims.keys()]
    .flatMap((key) => (key.startsWith(prefix) ? [Number(key.slice(prefix.length))] : []))
    .sort(ascending);
}

function claimOn(tables: Tables, mint: string, collection: "A" | "B") {
  return (serial: number) => {
    const claim = tables.claims.get(claimKey(mint, null, { collection, serial }));
    if (claim === undefined) return [];
    const { wallet, starId, anchoredAt } = claim;
    const since = anchoredAt ?? instantOfStarId(starId);
    return [{ collection, serial, wallet: `0.0.${wallet}`, starId, since }];
  };
}

/** `take_holdings_check`. */
function takeRun(
  { tables, newUuid }: Journal,
  { day, worker, at, leaseMs }: { day: string; worker: string; at: number; leaseMs: number },
): readonly object[] {
  const { runs } = tables;
  const isFirst = runs.size === 0;
  if (![...runs.values()].some((run) => run.day === day)) {
    const state = isFirst ? "skipped" : "running";
    const idle = { passes: 0, leaseOwner: null, leaseUntil: 0, nextTryAt: 0 };
    runs.set(newUuid(), { day, state, startedAt: at, ...idle });
  }
  for (const [id, run] of runs) {
    if (run.state === "running" && run.day < day) runs.set(id, { ...run, state: "incomplete" });
  }
  const due = [...runs].find(
    ([, run]) =>
      run.day === day &&
      run.state === "running" &&
      (run.leaseOwner === worker || !isWithin(run.leaseUntil, at, at + 2 * leaseMs)) &&
      !isWithin(run.nextTryAt, at + 1, at + AHEAD_MAX_MS),
  );
  if (due === undefined) return [];
  const [id, run] = due;
  const passes = run.passes + 1;
  runs.set(id, { ...run, passes, leaseOwner: worker, leaseUntil: at + leaseMs });
  return [{ id, day, kind: "scheduled", passes }];
}

function isWithin(instant: number, least: number, most: number): boolean {
  return least <= instant && instant <= most;
}

function changeRun(
  { runs }: Tables,
  { id, worker }: { readonly id: string; readonly worker: string },
  change: Partial<RunRow>,
): readonly object[] {
  const run = runs.get(id);
  if (run?.state === "running" && run.leaseOwner === worker) runs.set(id, { ...run, ...change });
  return [];
}

/** `release_claims`. */
function releaseClaims(journal: Journal, { mint, entries }: Ending): readonly object[] {
  const { tables } = journal;
  const ended = endClaims(journal, { mint, entries });
  if (ended.length === 0) return [];
  countEnded(tables, mint, ended);
  const contested = contestedEnds(journal, mint, ended);
  if (contested.length > 0) throw conflict(contested.join("\n"));
  note(journal, mint, ended);
  return ended;
}

/** `end_for_star`: before the star's own claims. */
export function endForStar(journal: Journal, star: string, ending: Ending): void {
  const ended = endClaims(journal, ending);
  if (ended.length !== ending.entries.length) throw conflict(`${star} release`);
  countEnded(journal.tables, ending.mint, ended, 0);
}

/** `note_ended_for_star`: after them. */
export function judgeEnded(journal: Journal, star: string, { mint, entries }: Ending): void {
  if (entries.some((entry) => hasStarredSince(journal, mint, entry))) {
    throw conflict(`${star} held`);
  }
  if (contestedEnds(journal, mint, entries).length > 0) throw conflict(`${star} release`);
  countEnded(journal.tables, mint, []);
  note(journal, mint, entries);
}

/** `is_released_since`. */
export function isReleasedSince({ ends }: Tables, star: StarRow): boolean {
  return [...ends].some(([{ collection, serial, wallet }, { mint, release }]) => {
    if (mint !== star.target_id || release <= (star.releases ?? release)) return false;
    const brought = collection === "A" ? star.held_a : star.held_b;
    return wallet === star.wallet || brought.includes(serial);
  });
}

function conflict(detail: string): StatementError {
  return new StatementError(RAISED.conflict, "decided on what is no longer so", detail);
}

function note({ tables, onEnded }: Journal, mint: string, ended: readonly EndRow[]): void {
  const { releases: release } = tables.eventTotals.get(mint) ?? { releases: 0 };
  for (const each of ended) tables.ends.set(each, { mint, release });
  onEnded?.(mint, ended);
}

/** `end_claims`. */
function endClaims({ tables, now }: Journal, { mint, entries }: Ending): readonly EndRow[] {
  const { claims, carriers } = tables;
  const ended = entries.filter((entry) => {
    const key = claimKey(mint, null, entry);
    const claim = claims.get(key);
    const stands = claim?.wallet === entry.wallet && claim.starId === entry.star_id;
    if (!stands || (claim.anchoredAt ?? 0) >= entry.listed_at) return false;
    claims.delete(key);
    if (entry.collection === "B") carriers.delete(`${mint}/${entry.wallet}`);
    return true;
  });
  const carriedOn = ended.filter(({ spare }) => spare !== null);
  for (const { spare, wallet, star_id: starId } of carriedOn.sort(bySpare)) {
    const serial = spare ?? 0;
    const [key, owner] = [claimKey(mint, null, { collection: "B", serial }), `${mint}/${wallet}`];
    if (claims.has(key) || carriers.has(owner)) continue;
    claims.set(key, { wallet, starId, anchoredAt: now() });
    carriers.set(owner, serial);
  }
  return ended;
}

const bySpare = (one: EndRow, other: EndRow): number => (one.spare ?? 0) - (other.spare ?? 0);

function countEnded(tables: Tables, mint: string, ended: readonly EndRow[], releases = 1): void {
  const total = tables.eventTotals.get(mint);
  if (total === undefined) throw new Error(`${mint} has claims and no total`);
  const lost = ended.reduce((sum, { weight }) => sum + weight, 0);
  const next = { weight: total.weight - lost, releases: total.releases + releases };
  tables.eventTotals.set(mint, { ...total, ...next });
}

/** `contested_ends`. */
function contestedEnds(
  journal: Journal,
  mint: string,
  ended: readonly EndRow[],
): readonly string[] {
  const { claims, carriers } = journal.tables;
  const counts = (serial: number): boolean =>
    claims.has(claimKey(mint, null, { collection: "B", serial }));
  const isContested = (entry: EndRow): boolean =>
    (entry.collection === "B" &&
      ((carriers.get(`${mint}/${entry.wallet}`) ?? null) !== entry.spare ||
        entry.held_b.some((serial) => counts(serial) !== entry.counted_b.includes(serial)))) ||
    hasStarredSince(journal, mint, entry);
  return ended.filter(isContested).map(({ collection, serial }) => `${collection}/${serial}`);
}

/** `has_starred_since`. */
function hasStarredSince({ tables, now }: Journal, mint: string, entry: EndRow): boolean {
  const { listed_at: since, wallet, collection, serial } = entry;
  const last = dayOf(now());
  for (let at = Math.max(since - 1_000, 0); dayOf(at) <= last; at += 86_400_000) {
    const own = tables.walletDays.get(`${wallet}/${dayOf(at)}`) ?? [];
    const isNewer = own.some(
      (star) =>
        star.target_type === "event" &&
        star.target_id === mint &&
        star.holdings_read_at >= since &&
        (collection === "A" ? star.held_a.includes(serial) : star.held_b.length > 0),
    );
    if (isNewer) return true;
  }
  return false;
}
