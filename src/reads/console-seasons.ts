import { runStatement, type Sql } from "../store/postgres.ts";
import type { Fragment } from "./star-windows.ts";

/** A pass with its season's name. `grantedAt` is epoch milliseconds. */
export interface ListedPass {
  readonly wallet: string;
  readonly number: number;
  readonly seasonId: string;
  readonly season: string;
  readonly grantedAt: number;
}

/**
 * Passes of a season by wallet, a page of them.
 *
 * @param query.after account number of the last wallet seen; 0 for the first page
 */
export async function passesOf(
  sql: Sql,
  query: { readonly seasonId: string; readonly after: number; readonly limit: number },
): Promise<readonly ListedPass[]> {
  const { seasonId, after, limit } = query;
  // By the number: `wallet` alone would be the text, which has another order and no index.
  const which = sql`season_id = ${seasonId} and wallet > ${after} order by premium_pass.wallet`;
  return passesWhere(sql, sql`${which} limit ${limit}`);
}

/** Passes with the names of their seasons. @param which a condition, and an order */
export function passesWhere(sql: Sql, which: Fragment): Promise<readonly ListedPass[]> {
  return runStatement(sql<ListedPass[]>`
    select '0.0.' || wallet as wallet, wallet as number, season_id as "seasonId",
      season.name as season, granted_at as "grantedAt"
    from premium_pass join season on season.id = season_id where ${which}`);
}

/** Points booked by hand. `at` is epoch milliseconds. */
export interface ListedCredit {
  readonly id: string;
  readonly wallet: string;
  readonly points: number;
  readonly reason: string;
  readonly at: number;
}

/** The newest credits, newest first. */
export async function lastCredits(sql: Sql, limit: number): Promise<readonly ListedCredit[]> {
  return runStatement(sql<ListedCredit[]>`
    select key as id, '0.0.' || wallet as wallet, points, reason, at from xp_credit
    order by at desc limit ${limit}`);
}
