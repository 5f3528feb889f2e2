import {
  type RankedItem,
  type RankedRows,
  type RankedType,
  type RankingPage,
  type RankingReads,
  rankingReads,
} from "../reads/markets.ts";
import type { NamedQuery } from "../reads/named-like.ts";
import type { Sql } from "../store/postgres.ts";
import type { readGate } from "./read-gate.ts";
import { nextHour } from "./v1/page.ts";
import { shareReads } from "./v1/shared-reads.ts";

/** Most pages end within the first of these, and cost the least. */
const FIRST_ROWS = [30, 50, 100] as const;

/**
 * Reads pages of a ranking. Counting all of it may take a quarter of a second, so those who ask at the
 * same time share that, whatever page or name each wants; what a page shows is then looked up by key.
 */
export function rankingPages<R extends object>({ top, whole, named, shown }: RankingReads<R>) {
  const shareTop = shareReads<Awaited<ReturnType<typeof top>>>();
  const shareWhole = shareReads<readonly RankedItem[]>();
  const shareNamed = shareReads<ReadonlySet<string>>();

  const placed = (rows: readonly R[], rankOf: (index: number) => number) =>
    rows.map((row, index) => ({ rank: rankOf(index), ...row }));

  return async ({ q, limit, offset, now }: NamedQuery): Promise<RankingPage<R>> => {
    // Within an hour the clock changes nothing.
    const hour = String(nextHour(now));
    const end = offset + limit;
    const first = q === undefined ? FIRST_ROWS.find((rows) => end <= rows) : undefined;
    if (first !== undefined) {
      const { rows, total } = await shareTop(`${first} ${hour}`, () => top({ limit: first, now }));
      return { rows: placed(rows.slice(offset, end), (index) => offset + index + 1), total };
    }
    const [ranked, passing] = await Promise.all([
      shareWhole(hour, () => whole(now)),
      q === undefined ? undefined : shareNamed(q, () => named(q)),
    ]);
    const places = [...ranked.keys()].filter(
      (place) => passing?.has(ranked[place]?.id ?? "") ?? true,
    );
    const page = places.slice(offset, end);
    const items = page.flatMap((place) => ranked[place] ?? []);
    const rows = items.length === 0 ? [] : await shown(items);
    return { rows: placed(rows, (index) => (page[index] ?? 0) + 1), total: places.length };
  };
}

/** Pages of the markets' rankings, by what is ranked. */
export type Rankings = {
  readonly [T in RankedType]: (query: NamedQuery) => Promise<RankingPage<RankedRows[T]>>;
};

/** Tokens and collections, each read in its turn. */
export function rankings(sql: Sql, gated: ReturnType<typeof readGate>): Rankings {
  const inTurn = <T extends RankedType>(type: T) => {
    const { top, whole, named, shown } = rankingReads(sql, type);
    return rankingPages<RankedRows[T]>({
      top: (query) => gated(() => top(query)),
      whole: (now) => gated(() => whole(now)),
      named: (part) => gated(() => named(part)),
      shown: (items) => gated(() => shown(items)),
    });
  };
  return { token: inTurn("token"), collection: inTurn("collection") };
}
