import { DAY_MS, dayOf } from "../../actors/day.ts";
import type { Sql } from "../store/postgres.ts";

const HOUR_MS = 3_600_000;
const HOURS_PER_DAY = 24;

/**
 * A subquery with the weight that each item of a type was given: `today`, and over 7 and 30
 * days, from the full UTC hour 7 × 24 (30 × 24) hours ago until now.
 *
 * A window begins within a day: of that day the hours count from there on, of the later
 * ones the day as a whole. That reads 31 rows per item instead of 720.
 *
 * @param now epoch milliseconds
 * @returns columns `target_id, today, votes7d, votes30d`; no row for an item without stars
 */
export function starWindows(sql: Sql, type: "token" | "collection" | "project", now: number) {
  const today = dayOf(now);
  const week = windowOf(now, 7);
  const month = windowOf(now, 30);
  return sql`(
    select item_day.target_id,
      coalesce(sum(item_day.weight) filter (where item_day.day = ${today}), 0)::bigint as today,
      coalesce(sum(case when item_day.day = ${week.day} then part.weight else item_day.weight end)
        filter (where item_day.day >= ${week.day}), 0)::bigint as votes7d,
      coalesce(sum(case when item_day.day = ${month.day} then part.weight else item_day.weight end), 0)::bigint
        as votes30d
    from item_day
    left join lateral (
      select sum(item_hour.weight) as weight from item_hour
      where item_day.day in (${week.day}, ${month.day})
        and item_hour.target_type = item_day.target_type and item_hour.target_id = item_day.target_id
        and item_hour.hour >= case item_day.day when ${week.day} then ${week.from}::int else ${month.from}::int end
        and item_hour.hour < case item_day.day when ${week.day} then ${week.until}::int else ${month.until}::int end
    ) as part on true
    where item_day.target_type = ${type} and item_day.day >= ${month.day}
    group by item_day.target_id
  )`;
}

/** The day in which a window of so many days begins, its first hour, and the first hour after that day. */
function windowOf(now: number, days: number): { day: string; from: number; until: number } {
  const from = Math.floor(now / HOUR_MS) - days * HOURS_PER_DAY;
  const day = dayOf(from * HOUR_MS);
  return { day, from, until: Math.floor((from * HOUR_MS) / DAY_MS + 1) * HOURS_PER_DAY };
}
