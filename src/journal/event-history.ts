import { endOfDay, startOfDay } from "../../actors/day.ts";
import type { EventDayKey } from "../../actors/event-day.ts";
import {
  decideEventStar,
  type EventTables,
  emptyTables,
  evolveEventDay,
} from "../../actors/whole.ts";
import type { Pages } from "../store/page-by-page.ts";
import { runLong, type Sql } from "../store/postgres.ts";
import { yieldToEventLoop } from "../yield-to-event-loop.ts";
import { type CountedStar, countedStarColumns, differenceOf, starredFact } from "./counted-star.ts";

/** Stars of one read: to fold them takes some 10 ms, and the process may be one that voters use. */
const PAGE = 500;

/**
 * All stars that an event has on one day when it is asked, in the journal's order, page by page.
 * No index has that order for one event, and sorting its day for each page would take quadratic
 * time. So their numbers are read first, in order, and each page is looked up by them.
 */
export async function* starsOfEventDay(sql: Sql, key: EventDayKey): Pages<CountedStar> {
  const [row] = await runLong(sql<[{ numbers: string }]>`select ${numbersOf(sql, key)} as numbers`);
  yield* starsNumbered(sql, key, row.numbers);
}

/** The numbers of an event's stars on a day, in order; a part of a select. */
function numbersOf(sql: Sql, { event, day }: EventDayKey) {
  return sql`(select coalesce(string_agg(seq::text, ' ' order by seq), '') from star
    where day = ${day} and target_type = 'event' and target_id = ${event}
      and at >= ${startOfDay(day)} and at < ${endOfDay(day)})`;
}

async function* starsNumbered(sql: Sql, { day }: EventDayKey, text: string): Pages<CountedStar> {
  const numbers = text === "" ? [] : text.split(" ");
  for (let from = 0; from < numbers.length; from += PAGE) {
    const page = numbers.slice(from, from + PAGE).map(Number);
    yield await runLong(sql<CountedStar[]>`
        select ${countedStarColumns(sql)} from star where day = ${day} and seq = any(${page}::bigint[]) order by seq`);
    await yieldToEventLoop();
  }
}

/**
 * Folds an event's day from its recorded stars.
 *
 * @param starsMax folds the first of the day's stars alone: the actor as it was then
 */
export async function foldEventDay(
  sql: Sql,
  key: EventDayKey,
  starsMax = Number.POSITIVE_INFINITY,
): Promise<EventTables> {
  const tables = emptyTables();
  for await (const page of starsOfEventDay(sql, key)) {
    for (const star of page) {
      if (tables.stars === starsMax) return tables;
      evolveEventDay(key, tables, starredFact(star));
    }
  }
  return tables;
}

/** What a fold of an event's day must equal. */
interface Projections {
  /** The wallet that each serial counted for on the day, as the claims say. */
  readonly claims: Readonly<Record<"A" | "B", Readonly<Record<number, string>>>>;
  /** The event's stored counter. */
  readonly stored: number;
  /** What the event's stars of all days add up to. */
  readonly summed: number;
}

/**
 * Folds an event's day and, beside each star, decides it again under its own rules; what was recorded
 * stands, also where the machine now says otherwise. The claims and the total that the fold must equal
 * are as of the same commit: one statement says which stars there are and what stands beside them. Stars
 * may go on meanwhile.
 *
 * @returns `rules`: versions that its stars were decided under; `contradiction`: the first star that the
 *   machine decides otherwise, or null
 */
export async function compareEventDay(sql: Sql, key: EventDayKey) {
  const { event, day } = key;
  const claimsOf = (collection: "A" | "B") => sql`coalesce(
    json_object_agg(serial, '0.0.' || wallet) filter (where collection = ${collection}), '{}')`;
  const [row] = await runLong(sql<[Projections & { readonly numbers: string }]>`
      select ${numbersOf(sql, key)} as numbers,
        json_build_object('A', ${claimsOf("A")}, 'B', ${claimsOf("B")}) as claims,
        coalesce((select weight from event_total where event_id = ${event}), 0) as stored,
        (select coalesce(sum(weight), 0)::bigint from star
          where target_type = 'event' and target_id = ${event}) as summed
      from serial_claim where event_id = ${event} and day = ${day}`);
  const { numbers, ...stood } = row;
  const tables = emptyTables();
  const rules = new Set<number>();
  let contradiction: string | null = null;
  for await (const page of starsNumbered(sql, key, numbers)) {
    for (const star of page) {
      rules.add(star.rules);
      contradiction ??= differenceOf(star, (command) => decideEventStar(key, tables, command));
      evolveEventDay(key, tables, starredFact(star));
    }
  }
  return { ...stood, tables, rules, contradiction };
}
