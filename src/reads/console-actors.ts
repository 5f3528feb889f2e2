import { type Day, endOfDay, startOfDay } from "../../actors/day.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

/** A wallet-day in a list. */
export interface WalletDayRow {
  readonly wallet: number;
  readonly day: Day;
  /** Its last star: id and instant (epoch milliseconds), and which of the day it is. */
  readonly starId: string;
  readonly lastAt: number;
  readonly stars: number;
}

/**
 * Wallet-days, the one starred last first. A star is its wallet-day's last one when the next slot
 * is empty, so a page costs its rows and a few look-ups by key, however long the journal is.
 */
export async function listWalletDays(
  sql: Sql,
  query: {
    /** Only those of this account. */
    readonly wallet?: number | undefined;
    readonly day?: Day | undefined;
    readonly limit: number;
    /** The list goes on after this one. */
    readonly after?: Pick<WalletDayRow, "day" | "starId"> | undefined;
  },
): Promise<readonly WalletDayRow[]> {
  const { wallet, day, after, limit } = query;
  const ofDay = day === undefined ? sql`true` : sql`day = ${day}`;
  // A wallet's stars are few: without the offset they may be looked for among all, newest first.
  const stars =
    wallet === undefined
      ? sql`star`
      : sql`(select * from star where wallet = ${wallet} and ${ofDay} offset 0) star`;
  return runStatement(sql<WalletDayRow[]>`
    select wallet, day, id as "starId", at as "lastAt", slot as stars from ${stars}
    where ${ofDay}
      and ${after === undefined ? sql`true` : sql`day <= ${after.day} and (day, id) < (${after.day}, ${after.starId})`}
      and not exists (select from star later
        where later.wallet = star.wallet and later.day = star.day and later.slot = star.slot + 1)
    order by day desc, id desc limit ${limit}`);
}

/** An event that has been starred, with its newest star. */
export interface EventRow {
  readonly id: string;
  readonly title: string;
  readonly isForeverMint: boolean;
  readonly lastAt: number;
  /** Over all days. */
  readonly stars: number;
  readonly weight: number;
}

/**
 * Starred events in the order of their ids, each with its newest star (of that day).
 *
 * @param query.text part of the id or the title
 */
export async function listEvents(
  sql: Sql,
  query: {
    readonly isForeverMint?: boolean | undefined;
    readonly text?: string | undefined;
    readonly day?: Day | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  },
): Promise<readonly EventRow[]> {
  const { isForeverMint, text, day, after = "", limit } = query;
  const pattern = `%${(text ?? "").replace(/[\\%_]/g, "\\$&")}%`;
  const ofDay =
    day === undefined
      ? sql`true`
      : sql`star.day = ${day} and star.at >= ${startOfDay(day)} and star.at < ${endOfDay(day)}`;
  return runStatement(sql<EventRow[]>`
    select event.id, title, is_forever_mint as "isForeverMint", newest.at as "lastAt",
      total.stars, total.weight
    from event_total total join event on event.id = total.event_id
    cross join lateral (
      select at from star where target_type = 'event' and target_id = event.id and ${ofDay}
      order by at desc limit 1) newest
    where event.id > ${after}
      and ${isForeverMint === undefined ? sql`true` : sql`is_forever_mint = ${isForeverMint}`}
      and ${text === undefined ? sql`true` : sql`(event.id ilike ${pattern} or title ilike ${pattern})`}
    order by event.id limit ${limit}`);
}

/** The days on which an event was starred, newest first, each with its last star. */
export async function listDaysOfEvent(
  sql: Sql,
  query: { readonly event: string; readonly before?: Day | undefined; readonly limit: number },
): Promise<readonly { readonly day: Day; readonly lastAt: number }[]> {
  const { event, limit } = query;
  const before = query.before === undefined ? Number.MAX_SAFE_INTEGER : startOfDay(query.before);
  // From day to day by key: to read all stars of a busy event would take as long as it is busy.
  return runStatement(sql<{ day: Day; lastAt: number }[]>`
    with recursive days as (
      (select at from star where target_type = 'event' and target_id = ${event} and at < ${before}::bigint
        order by at desc limit 1)
      union all
      select earlier.at from days cross join lateral (
        select at from star where target_type = 'event' and target_id = ${event}
          and at < days.at / 86400000 * 86400000
        order by at desc limit 1) earlier
    )
    select utc_day(at) as day, at as "lastAt" from days limit ${limit}`);
}

/** What an event is called; null where the catalogue has none. */
export async function findEvent(
  sql: Sql,
  id: string,
): Promise<{ readonly title: string; readonly isForeverMint: boolean } | null> {
  const [row] = await runStatement(sql<{ title: string; isForeverMint: boolean }[]>`
    select title, is_forever_mint as "isForeverMint" from event where id = ${id}`);
  return row ?? null;
}
