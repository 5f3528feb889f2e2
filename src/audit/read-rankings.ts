import { z } from "zod";
import type { Reading } from "./counters.ts";
import { CLOCK_DOUBT_MS, dateOf, fetchWithRetry, jsonOf } from "./fetch-with-retry.ts";

export interface Rankings {
  readonly tokens: readonly Placed[];
  readonly collections: readonly Placed[];
  readonly projects: readonly Ranked[];
  readonly events: readonly RankedEvent[];
  /** Null between seasons. */
  readonly leaderboard: {
    readonly season: Season;
    readonly entries: readonly RankedWallet[];
  } | null;
  /** When they were read, by the API's own clock, with the doubt about it. */
  readonly reading: Pick<Reading, "from" | "until">;
  /** The most by which that clock and this machine's differed, in milliseconds. */
  readonly clocksDifferMs: number;
}

export type Ranked = z.output<typeof ranked>;
export type Placed = z.output<typeof placed>;
export type RankedEvent = z.output<typeof rankedEvent>;
export type RankedWallet = z.output<typeof rankedWallet>;
export type Season = z.output<typeof season>;

const count = z.int().min(0);
const ranked = z.object({
  id: z.string(),
  totalVotes: count,
  votes7d: count,
  votes30d: count,
});
const rank = z.int();
const placed = ranked.extend({ rank });
const rankedEvent = z.object({ id: z.string(), isForeverMint: z.boolean(), totalVotes: count });
const rankedWallet = z.object({
  rank,
  wallet: z.string().regex(/^0\.0\.[1-9]\d{0,11}$/),
  points: count,
  stars: count,
  weight: count,
});
const paged = { total: count, hasMore: z.boolean() };
type Paged = { readonly total: number; readonly hasMore: boolean };
const instant = z.iso.datetime().transform((text) => Date.parse(text));
/** Half-open, epoch milliseconds. */
const season = z.object({ id: z.string(), startsAt: instant, endsAt: instant });

/** Most records of a page. Tokens and collections have one page alone. */
export const PAGE = 100;
/** 100,000 events: any real directory is far smaller. */
const PAGES_MAX = 1_000;
const SECOND_MS = 1_000;

/**
 * Reads every ranking, all pages.
 *
 * @param url base URL, without `/v1`
 * @throws Error in one line when the API does not answer as its contract says
 */
export async function readRankings(url: string, key: string): Promise<Rankings> {
  const dates: number[] = [];
  let clocksDifferMs = 0;
  const get = async <T>(path: string, schema: z.ZodType<T>): Promise<T> => {
    const reply = await fetchWithRetry(`${url}/v1${path}`, { authorization: `Bearer ${key}` });
    const at = dateOf(reply);
    dates.push(at);
    clocksDifferMs = Math.max(clocksDifferMs, Math.abs(at - Date.now()));
    const body = await jsonOf(reply);
    const parsed = schema.safeParse(body);
    if (parsed.success) return parsed.data;
    throw new Error(
      `${path}: not what the API promises: ${parsed.error.issues[0]?.path.join(".")}`,
    );
  };
  const { tokens } = await get(`/tokens/top?limit=${PAGE}`, z.object({ tokens: z.array(placed) }));
  const { collections } = await get(
    `/collections/top?limit=${PAGE}`,
    z.object({ collections: z.array(placed) }),
  );
  const projectsPage = z.object({ projects: z.array(ranked), ...paged });
  const projects = await allPages(
    "/ecosystem",
    (offset) => get(`/ecosystem?limit=${PAGE}&offset=${offset}`, projectsPage),
    (page) => page.projects,
  );
  const eventsPage = z.object({ events: z.array(rankedEvent), ...paged });
  const events = await allPages(
    "/events",
    (offset) => get(`/events?status=all&limit=${PAGE}&offset=${offset}`, eventsPage),
    (page) => page.events,
  );
  const board = await get(
    `/leaderboard?limit=${PAGE}`,
    z.object({ season: season.nullable(), leaderboard: z.array(rankedWallet) }),
  );
  const reading = {
    from: Math.min(...dates) - CLOCK_DOUBT_MS,
    until: Math.max(...dates) + SECOND_MS + CLOCK_DOUBT_MS,
  };
  const leaderboard = board.season && { season: board.season, entries: board.leaderboard };
  return { tokens, collections, projects, events, leaderboard, reading, clocksDifferMs };
}

async function allPages<P extends Paged, T>(
  path: string,
  read: (offset: number) => Promise<P>,
  rowsOf: (page: P) => readonly T[],
): Promise<readonly T[]> {
  const all: T[] = [];
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page = await read(all.length);
    all.push(...rowsOf(page));
    const { hasMore, total } = page;
    const isShort = all.length < total;
    if (hasMore !== isShort)
      throw new Error(`${path}: hasMore is ${hasMore} after ${all.length} records of ${total}`);
    if (!hasMore || rowsOf(page).length === 0) break;
  }
  return all;
}
