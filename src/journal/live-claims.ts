import type { Day } from "../../actors/day.ts";
import type { Pages } from "../store/page-by-page.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import type { Collection, LiveClaim } from "./mint-end.ts";

/** 2,000 claims are 100 KB: few round trips, and little held in memory. */
export const CLAIMS_PER_PAGE = 2_000;

/** The columns of `serial_claim` that make a `LiveClaim` of a live row; a part of a select. */
export function claimColumns(sql: Sql) {
  return sql`collection, serial, '0.0.' || wallet as wallet, star_id as "starId",
    coalesce(anchored_at, instant_of_star_id(star_id)) as since`;
}

/** The claims on some serials of a collection, as far as they count; page by page, by serial. */
export async function* findClaims(
  sql: Sql,
  {
    mint,
    collection,
    serials,
  }: {
    readonly mint: string;
    readonly collection: Collection;
    readonly serials: readonly number[];
  },
): Pages<LiveClaim> {
  for (let from = 0; from < serials.length; from += CLAIMS_PER_PAGE) {
    // One look-up by key each: a plan made while the table was small would read all claims.
    const rows = await runStatement(sql<LiveClaim[]>`
      select claim.*
      from unnest(${serials.slice(from, from + CLAIMS_PER_PAGE)}::bigint[]) as asked (serial)
      cross join lateral (
        select ${claimColumns(sql)} from serial_claim
        where event_id = ${mint} and collection = ${collection} and serial = asked.serial
          and day is null and released_at is null
        limit 1
      ) claim
      order by claim.serial`);
    if (rows.length > 0) yield rows;
  }
}

/** The same, all in one list: for few serials. */
export async function listClaims(
  sql: Sql,
  asked: Parameters<typeof findClaims>[1],
): Promise<readonly LiveClaim[]> {
  const found: LiveClaim[] = [];
  for await (const page of findClaims(sql, asked)) found.push(...page);
  return found;
}

/** Whether the check of a UTC day has done a forever mint: it leaves no part of it open. */
export async function isMintChecked(sql: Sql, mint: string, day: Day): Promise<boolean> {
  const [run] = await runStatement(sql`
    select id from holdings_check_run run
    where run.day = ${day} and kind = 'scheduled' and (state in ('skipped', 'done') or exists (
      select from holdings_check_mint done
      where run_id = run.id and event_id = ${mint} and json_array_length(deferred) = 0))`);
  return run !== undefined;
}
