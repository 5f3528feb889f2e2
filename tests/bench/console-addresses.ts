import type { Hono } from "hono";
import type { Page } from "../../src/http/console/page.ts";
import type { Sql } from "../../src/store/postgres.ts";

/** The job that `seedRedis` offers first. */
const FIRST_JOB = "01a1f8c0-0000-7000-8000-000000000000";

/** What of the filled journal stands in addresses. */
export interface Landmarks {
  /** A UTC day, today's; and the days and wallets of an ordinary star and of a long day. */
  readonly today: string;
  readonly star: { readonly id: string; readonly wallet: number; readonly day: string };
  readonly starOfMint: string;
  readonly starOfWhale: string;
  readonly starWaiting: string;
  readonly eager: number;
  /** In the middle of long lists: a star of the busy event, the journal's number, a log entry. */
  readonly middle: { readonly starOfEvent: string; readonly seq: number; readonly entry: number };
  readonly check: string;
  readonly checkBefore: number;
  readonly season: string;
  readonly waiting: string;
}

/** A place to ask for: what it is called in the report, and where it is below `/ops`. */
export type Address = readonly [name: string, path: string];

/**
 * Where the bench goes, by path in the table of pages: the page as one comes to it, its searches,
 * and places far down its lists. What follows a first page (`rel="next"`) is asked for too, by itself.
 */
export function consoleAddresses(at: Landmarks): Readonly<Record<string, readonly Address[]>> {
  const wallet = `0.0.${at.star.wallet}`;
  const actors: readonly Address[] = [
    ["a wallet-day", `/wallet-day/${wallet}/${at.star.day}`],
    ["a wallet-day of 20 stars", `/wallet-day/0.0.${at.eager}/${at.today}`],
    ["a quiet event's day", `/event-day/e10/${at.star.day}`],
    ["the busy event's day", `/event-day/hot/${at.today}`],
    ["the full mint", "/forever-mint/full"],
  ];
  return {
    "": [["overview", ""]],
    "/live/numbers": [["stream of numbers", "/live/numbers"]],
    "/live/decisions": [
      ["stream of decisions", "/live/decisions"],
      ["stream, come back", `/live/decisions?since=${Date.now() - 3_600_000}`],
      ["stream of an event", "/live/decisions?event=hot"],
    ],
    "/feed": [
      ["live", "/feed"],
      ["live of a wallet", `/feed?wallet=${wallet}`],
      ["live of an event", "/feed?event=hot"],
      ["live of a quiet event", "/feed?event=e11"],
      ["live of an unknown wallet", "/feed?wallet=0.0.7"],
    ],
    "/actors": [
      ["actors", "/actors"],
      ["actors of a wallet", `/actors?q=${wallet}`],
      ["actors of a day", `/actors?q=${at.star.day}`],
      ["actors of an event", "/actors?q=e1033"],
      ["actors of an unknown wallet", "/actors?q=0.0.7"],
      ["event days", "/actors?type=event-day"],
      ["event days of a day", `/actors?type=event-day&q=${at.star.day}`],
      ["events by a word", "/actors?type=event-day&q=busy"],
      ["events that are all busy", "/actors?type=event-day&q=crowd"],
      ["events by no such word", "/actors?type=event-day&q=nothing"],
      ["forever mints", "/actors?type=forever-mint"],
    ],
    "/actors/*": [
      ...actors.map(([name, path]): Address => [name, `/actors${path}`]),
      ["a wallet-day, replayed", `/actors/wallet-day/0.0.${at.eager}/${at.today}?at=9&replay=1`],
      ["a quiet event, replayed", `/actors/event-day/e10/${at.star.day}?at=2&replay=1`],
      ["the busy event, far back", `/actors/event-day/hot/${at.today}?before=${at.middle.seq}`],
      ["the busy event, late NFTs", `/actors/event-day/hot/${at.today}?nft=B/1`],
      ["the full mint, walked", "/actors/forever-mint/full?at=9&replay=1"],
      ["the full mint, late NFTs", "/actors/forever-mint/full?nft=A/5990000"],
    ],
    "/wallets/*": [
      ["a wallet", `/wallets/${wallet}`],
      ["an unknown wallet", "/wallets/0.0.7"],
    ],
    "/search": [["search for a star", `/search?q=${at.star.id}`]],
    // Those of actors with thousands of stars are refused.
    "/raw/actors/*": actors
      .slice(0, 3)
      .map(([name, path]): Address => [`${name}, raw`, `/raw/actors${path}`]),
    "/stars": [
      ["stars", "/stars"],
      ["stars of an event", "/stars?q=hot"],
      ["stars of an event, far back", `/stars?q=hot&before=${at.middle.starOfEvent}`],
      ["stars of a wallet", `/stars?q=${wallet}`],
      ["stars of an unknown wallet", "/stars?q=0.0.7"],
      ["stars of no event", "/stars?q=nothing"],
    ],
    "/stars/*": [
      ["a star", `/stars/${at.star.id}`],
      ["a star on the mint", `/stars/${at.starOfMint}`],
      ["a star with 500 NFTs", `/stars/${at.starOfWhale}`],
      ["a star that waits", `/stars/${at.starWaiting}`],
    ],
    "/publishing": [
      ["publishing", "/publishing"],
      ["publishing, far down", `/publishing?after=${at.waiting}`],
    ],
    "/alarms": [["alarms", "/alarms"]],
    "/queues": [
      ["queues", "/queues"],
      ["jobs that wait", "/queues/board/api/queues?activeQueue=rewards&status=waiting&page=1"],
      ["jobs, far down", "/queues/board/api/queues?activeQueue=rewards&status=waiting&page=20"],
      ["a job", `/queues/board/api/queues/rewards/${FIRST_JOB}`],
    ],
    "/holdings": [
      ["holdings checks", "/holdings"],
      ["holdings checks, far back", `/holdings?before=${at.checkBefore}`],
    ],
    "/holdings/now": [["the last dry run", "/holdings/now"]],
    "/holdings/runs/*": [["a large check", `/holdings/runs/${at.check}`]],
    "/catalogue": [
      ["catalogue", "/catalogue"],
      ...["event", "token", "collection", "project"].map(
        (type): Address => [`catalogue, ${type}s shown`, `/catalogue?type=${type}&view=shown`],
      ),
    ],
    "/seasons": [["seasons", "/seasons"]],
    "/premium": [
      ["premium", "/premium"],
      ["premium, far down", `/premium?season=${at.season}&after=550000`],
    ],
    "/xp": [["xp", "/xp"]],
    "/keys": [["keys", "/keys"]],
    "/operators": [["operators", "/operators"]],
    "/log": [
      ["operator log", "/log"],
      ["operator log, far back", `/log?before=${at.middle.entry}`],
    ],
    "/log.ndjson": [["operator log, whole", "/log.ndjson"]],
  };
}

/** The same for the operators' API, by path of its routes. */
export function apiAddresses(at: Landmarks): Readonly<Record<string, readonly Address[]>> {
  const wallet = `0.0.${at.star.wallet}`;
  return {
    "/actors": [
      ["api: actors", "/api/actors?limit=100"],
      ["api: actors of a wallet", `/api/actors?q=${wallet}`],
      ["api: event days", "/api/actors?type=event-day"],
      ["api: busy events' days", "/api/actors?type=event-day&q=crowd"],
    ],
    "/actors/*": [
      ["api: a wallet-day", `/api/actors/wallet-day/${wallet}/${at.star.day}`],
      ["api: a quiet event's day", `/api/actors/event-day/e10/${at.star.day}`],
      ["api: the busy event's day", `/api/actors/event-day/hot/${at.today}`],
      ["api: the full mint", "/api/actors/forever-mint/full"],
    ],
    "/attention": [["api: attention of a day", "/api/attention?window=24h"]],
    "/health": [["api: health", "/api/health"]],
    "/publishing": [["api: publishing", "/api/publishing"]],
  };
}

/** Paths of the two tables that the bench never asks for, and places that lead to no page. */
export function leftOut(pages: readonly Page[], api: Hono, at: Landmarks): readonly string[] {
  const gets = api.routes.filter(({ method }) => method === "GET").map(({ path }) => path);
  return [
    ...difference(
      pages.map(({ path }) => path),
      consoleAddresses(at),
    ),
    ...difference(gets, apiAddresses(at)).map((path) => `/api${path}`),
  ];
}

function difference(
  paths: readonly string[],
  known: Readonly<Record<string, readonly Address[]>>,
): readonly string[] {
  const asked = Object.keys(known);
  return [
    ...paths.filter((path) => known[path] === undefined || known[path].length === 0),
    ...asked.filter((path) => !paths.includes(path)),
  ];
}

/** Looks the landmarks up in a journal filled by `seedForConsole` and `seedBooks`. */
export async function findLandmarks(sql: Sql): Promise<Landmarks> {
  const [row] = await sql<Landmarks[]>`
    select utc_day(now_ms())::text as today,
      (select json_build_object('id', id, 'wallet', wallet, 'day', day) from star
        where target_type = 'event' and target_id = 'e10' limit 1) as star,
      (select id from star where target_id = 'full' and counted_a = 1 limit 1) as "starOfMint",
      (select id from star order by cardinality(held_a) desc limit 1) as "starOfWhale",
      (select star_id from outbox where state = 'sent' limit 1) as "starWaiting",
      (select wallet from star where slot = 20 limit 1) as eager,
      json_build_object(
        'starOfEvent', (select id from star where target_id = 'hot' order by at offset 1000 limit 1),
        'seq', (select seq from star where target_id = 'hot' order by seq offset 1000 limit 1),
        'entry', (select id from operator_log order by id offset 1000 limit 1)) as middle,
      (select id from holdings_check_run order by started_at desc limit 1) as check,
      (select started_at from holdings_check_run order by started_at offset 100 limit 1) as "checkBefore",
      (select id from season order by starts_at desc limit 1) as season,
      (select star_id from outbox where state <> 'published' order by star_id desc offset 100 limit 1) as waiting`;
  if (row === undefined) throw new Error("the journal is empty");
  return row;
}
