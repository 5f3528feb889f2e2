import { compareEntityIds } from "../ledger/entity-id.ts";
import type { Reading, ShownCounter } from "./counters.ts";
import { PAGE, type RankedWallet, type Season } from "./read-rankings.ts";
import { elsewhere, type Mismatch, orderMismatches } from "./report.ts";

/** Stars and their weight by wallet, within the season whose leaderboard is published; plain data. */
export interface SeasonBoard {
  /** Null: none is looked at. */
  season: Season | null;
  readonly wallets: Map<string, Score>;
  /** False where stars of the season were read before the audit knew it. */
  isWhole: boolean;
  /** The latest instant of the stars that were read, of any season, epoch milliseconds; -1 before the first. */
  newestAt: number;
}

interface Tally {
  stars: number;
  weight: number;
}

/** What the leaderboard must have shown. */
interface Score extends Tally {
  /** What it may have shown. */
  readonly edge: Tally;
  /** What came after it was read. */
  readonly later: Tally;
}

/** A star, or what was found out about one: its place and its weight come at different times. */
export interface Scored {
  readonly wallet: string;
  readonly at: number;
  readonly stars: 0 | 1;
  readonly weight: number;
  /** Whether the leaderboard must show it. */
  readonly isSettled: boolean;
}

export function noBoard(): SeasonBoard {
  return { season: null, wallets: new Map(), isWhole: true, newestAt: -1 };
}

/** Looks at a season from now on; what an earlier audit found of the same one stays. */
export function openBoard(board: SeasonBoard, season: Season | null): void {
  const isSame = JSON.stringify(board.season) === JSON.stringify(season);
  if (!isSame) {
    board.season = season;
    board.wallets.clear();
    board.isWhole = season === null || board.newestAt < season.startsAt;
  }
  for (const own of board.wallets.values()) {
    for (const tally of [own.edge, own.later]) {
      own.stars += tally.stars;
      own.weight += tally.weight;
      Object.assign(tally, nothing());
    }
  }
}

export function score(board: SeasonBoard, scored: Scored, { until }: Pick<Reading, "until">): void {
  const { season, wallets } = board;
  const { wallet, at, stars, weight, isSettled } = scored;
  board.newestAt = Math.max(board.newestAt, at);
  if (season === null || at < season.startsAt || at >= season.endsAt) return;
  const own = wallets.get(wallet) ?? { ...nothing(), edge: nothing(), later: nothing() };
  wallets.set(wallet, own);
  const tally = isSettled ? own : own[at <= until ? "edge" : "later"];
  tally.stars += stars;
  tally.weight += weight;
}

function nothing(): Tally {
  return { stars: 0, weight: 0 };
}

/**
 * Stars and weight of every entry, and the stars of wallets that are missing from a board with room for
 * them. Points are XP, of which the rewards feature books what it likes.
 *
 * @param hasWeights false where some events' weights are not known
 */
export function boardCounters(
  { wallets }: SeasonBoard,
  entries: readonly RankedWallet[],
  { hasWeights }: { readonly hasWeights: boolean },
): readonly ShownCounter[] {
  const fields = hasWeights ? (["stars", "weight"] as const) : (["stars"] as const);
  const listed = new Set(entries.map(({ wallet }) => wallet));
  const missing =
    entries.length < PAGE
      ? [...wallets].filter(([wallet, { stars }]) => stars > 0 && !listed.has(wallet))
      : [];
  return [
    ...entries.flatMap((entry) =>
      fields.map((field) => {
        const { [field]: low = 0, edge } = wallets.get(entry.wallet) ?? {};
        const expected = { low, high: low + (edge?.[field] ?? 0) };
        return { where: whereOf(field, entry.wallet), expected, found: entry[field] };
      }),
    ),
    ...missing.map(([wallet, { stars }]) => {
      return { where: whereOf("stars", wallet), expected: { low: stars, high: stars }, found: 0 };
    }),
  ];
}

function whereOf(field: string, wallet: string): string {
  return `leaderboard ${field} of ${wallet}`;
}

/** The leaderboard is that of the season that is on. */
export function judgeSeason(
  { startsAt, endsAt }: Season,
  { from, until }: Pick<Reading, "from" | "until">,
): readonly Mismatch[] {
  if (startsAt <= until && endsAt > from) return [];
  const found = [startsAt, endsAt].map((at) => new Date(at).toISOString()).join(" to ");
  return [elsewhere("ranking", "season of the leaderboard", { expected: "one that is on", found })];
}

/** Points, "then more stars, then the lower account number". */
export function boardOrder(entries: readonly RankedWallet[]): readonly Mismatch[] {
  return orderMismatches("leaderboard", entries, {
    compare: (one, other) =>
      other.points - one.points ||
      other.stars - one.stars ||
      compareEntityIds(one.wallet, other.wallet),
    nameOf: ({ wallet }) => wallet,
  });
}
