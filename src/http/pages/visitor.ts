import type { Context } from "hono";
import { dayOf } from "../../../actors/day.ts";
import type { Clock } from "../../clock.ts";
import { readLeaderboard } from "../../reads/leaderboard.ts";
import type { Sql } from "../../store/postgres.ts";
import type { VotingDeps } from "../voting/routes.ts";
import type { Visitor } from "./page.ts";

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
