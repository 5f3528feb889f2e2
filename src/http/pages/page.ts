import type { Context } from "hono";
import type { z } from "zod";
import type { Allowance } from "../../../actors/allowance.ts";
import { dayOf } from "../../../actors/day.ts";
import type { Clock } from "../../clock.ts";
import { TerminalError } from "../../errors.ts";
import { readLeaderboard } from "../../reads/leaderboard.ts";
import type { Sql } from "../../store/postgres.ts";
import type { Html } from "../console/markup.ts";
import { readGate } from "../read-gate.ts";
import { readQuery } from "../v1/parameters.ts";
import { shareReads } from "../v1/response-cache.ts";
import type { VotingDeps } from "../voting/routes.ts";

export interface StarToday {
  readonly id: string;
  /** `<type>/<id>` */
  readonly target: string;
  readonly weight: number;
}

/** Somebody who is signed in, as of this request. */
export interface Visitor {
  /** `0.0.n` */
  readonly wallet: string;
  readonly allowance: Allowance;
  /** When the pass that is in force ends, epoch milliseconds; null without one. */
  readonly premiumUntil: number | null;
  /** At most 20. */
  readonly starsToday: readonly StarToday[];
}

export interface PageRequest {
  readonly query: URLSearchParams;
  /** What `:id` in the page's path stands for, decoded; empty without one. */
  readonly id: string;
  readonly now: number;
  /** Null for somebody who is not signed in. */
  readonly visitor: Visitor | null;
}

/** A page as it is shown, without the frame that all have. */
export interface ShownPage {
  /** Without the site's name. */
  readonly title: string;
  readonly body: Html;
  /** Origins besides our own that its scripts may ask. */
  readonly connect?: readonly string[];
}

/** One page of the directory. The table of pages makes the routes and the navigation. */
export interface Page {
  /** As Hono spells it: `/events/:id`. */
  readonly path: string;
  /** Its word in the navigation; without one it is reached by links. */
  readonly nav?: string;
  /** @throws TerminalError `NOT_FOUND`, `INVALID_PARAMETER`; RetryableError `UNAVAILABLE` */
  show(request: PageRequest): Promise<ShownPage>;
}

interface VisitorGiven
  extends Pick<VotingDeps, "findSession" | "readAllowance" | "receiptsOfDay" | "tokens"> {
  readonly sql: Sql;
  readonly clock: Clock;
}

/**
 * Finds who asks for a page: the wallet of its session, with what the frame says of it.
 *
 * @returns a function that throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export function visitorFinder(given: VisitorGiven): (c: Context) => Promise<Visitor | null> {
  const { sql, clock, findSession, readAllowance, receiptsOfDay, tokens } = given;
  return async (c) => {
    const token = tokens.find(c);
    const wallet = token === null ? null : await findSession(token);
    if (wallet === null) return null;
    const now = clock.now();
    const [{ premium, ...allowance }, stars] = await Promise.all([
      readAllowance(wallet),
      receiptsOfDay(wallet, dayOf(now)),
    ]);
    const { season } = premium ? await readLeaderboard(sql, { limit: 0, now }) : { season: null };
    return {
      wallet,
      allowance,
      premiumUntil: season?.endsAt ?? null,
      starsToday: stars.map(({ id, target, weight }) => ({
        id,
        target: `${target.type}/${target.id}`,
        weight,
      })),
    };
  };
}

export interface Reading {
  readonly sql: Sql;
  /** The two external event sources (`EVENT_SOURCES`). */
  readonly eventSources: readonly string[];
  /** `SITE_NAME` */
  readonly siteName: string;
  /** Base of the explorer's pages of this network; null where there is none. */
  readonly explorerUrl: string | null;
  /** Where browsers may ask for the ledger's own rows; null where there is no such place. */
  readonly mirrorNodeUrl: string | null;
  /**
   * Joins equal reads at the same time, and bounds how many run at once beside the votes. A read is of
   * the instant at which it begins, epoch milliseconds: it is never older than a request that joins it.
   */
  share<V>(question: string, read: (at: number) => Promise<V>): Promise<V>;
}

/** Makes what joins the reads of a process' pages. */
export function sharedReadings(clock: Clock): Reading["share"] {
  const share = shareReads<unknown>();
  const gated = readGate();
  // A question names what it reads: equal ones have an answer of the same type.
  return <V>(question: string, read: (at: number) => Promise<V>) =>
    share(question, () => gated(() => read(clock.now()))) as Promise<V>;
}

/**
 * The parameters that a page has, of all that its address brings: links are passed on with
 * more, and a form sends what was left open as an empty text.
 *
 * @throws TerminalError `INVALID_PARAMETER` for a value outside its set
 */
export function readFilters<S extends z.ZodObject>(shape: S, query: URLSearchParams): z.output<S> {
  const known = [...query].filter(
    ([name, value]) => Object.hasOwn(shape.shape, name) && value !== "",
  );
  return readQuery(shape, new URLSearchParams(known));
}

/** What was read. @throws TerminalError `NOT_FOUND` where it is nothing */
export function found<T>(record: T | null | undefined, what: string): T {
  if (record === null || record === undefined)
    throw new TerminalError("NOT_FOUND", `There is no ${what} here.`);
  return record;
}
