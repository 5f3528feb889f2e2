import { endOfDay, startOfDay } from "../../actors/day.ts";
import { rulesOn } from "../../actors/rules.ts";
import {
  decideEventStar,
  type EventDayKey,
  type EventTables,
  emptyTables,
  evolveEventDay,
} from "../../actors/whole.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { yieldToEventLoop } from "../yield-to-event-loop.ts";
import {
  type CountedStar,
  type CountedStarRow,
  countedStarColumns,
  countedStarOf,
} from "./counted-star.ts";
import { decisionOf } from "./fold-mint.ts";
import { walletOf } from "./star-record.ts";

/** The actor as folded, and what the fold found on the way. */
export interface FoldedEventDay {
  readonly tables: EventTables;
  /** Versions of the rules that its stars were decided under. */
  readonly rules: ReadonlySet<number>;
  /** The first star that today's machine decides otherwise under its rules; null: none. */
  readonly contradiction: string | null;
}

/** Stars of one read: to fold them takes some 10 ms, and the process may be one that voters use. */
const PAGE = 500;
/** A fold may take as long as it takes, a statement may not. */
const PAGE_WITHIN_MS = 30_000;

/**
 * All stars that an event has on one day when it is asked, in the journal's order, page by page.
 * No index has that order for one event, and sorting its day for each page would take quadratic
 * time. So their numbers are read first, in order, and each page is looked up by them.
 */
export async function* starsOfEventDay(
  sql: Sql,
  { event, day }: EventDayKey,
): AsyncGenerator<readonly CountedStar[]> {
  const [row] = await runStatement(
    sql<{ numbers: string }[]>`
      select coalesce(string_agg(seq::text, ' ' order by seq), '') as numbers from star
      where day = ${day} and target_type = 'event' and target_id = ${event}
        and at >= ${startOfDay(day)} and at < ${endOfDay(day)}`,
    PAGE_WITHIN_MS,
  );
  const numbers = row === undefined || row.numbers === "" ? [] : row.numbers.split(" ");
  for (let from = 0; from < numbers.length; from += PAGE) {
    const page = numbers.slice(from, from + PAGE).map(Number);
    const rows = await runStatement(
      sql<CountedStarRow[]>`
        select ${countedStarColumns(sql)} from star where day = ${day} and seq = any(${page}::bigint[]) order by seq`,
      PAGE_WITHIN_MS,
    );
    yield rows.map(countedStarOf);
    await yieldToEventLoop();
  }
}

/**
 * Folds an event's day from its recorded stars and, beside each, decides it again under its own
 * rules. What was recorded stands, also where the machine now says otherwise.
 *
 * @param starsMax folds the first of the day's stars alone: the actor as it was then
 */
export async function foldEventDay(
  sql: Sql,
  key: EventDayKey,
  starsMax = Number.POSITIVE_INFINITY,
): Promise<FoldedEventDay> {
  const tables = emptyTables();
  const rules = new Set<number>();
  let contradiction: string | null = null;
  for await (const page of starsOfEventDay(sql, key)) {
    for (const star of page) {
      if (tables.stars === starsMax) return { tables, rules, contradiction };
      rules.add(star.rules);
      contradiction ??= judgeStar(key, tables, star);
      const { starId, wallet, at, weight, claims } = star;
      evolveEventDay(key, tables, { type: "starred", starId, wallet, at, weight, claims });
    }
  }
  return { tables, rules, contradiction };
}

function judgeStar(key: EventDayKey, tables: EventTables, star: CountedStar): string | null {
  const { starId, wallet, at, heldA, heldB } = star;
  const holdings = { collectionA: heldA, collectionB: heldB, readAt: at };
  const decided = decideEventStar(key, tables, { type: "star", wallet, holdings, at });
  const { version } = rulesOn(key.day);
  const [now, then] = [decisionOf({ ...decided, rules: version }), decisionOf(star)];
  return now === then ? null : `star ${starId}: recorded ${then}, decided ${now}`;
}

/** What the claims say has counted on an event's day. */
export async function claimsOfEventDay(
  sql: Sql,
  { event, day }: EventDayKey,
): Promise<Readonly<Record<"A" | "B", ReadonlyMap<number, string>>>> {
  const rows = await runStatement(
    sql<{ collection: "A" | "B"; serial: number; wallet: number }[]>`
      select collection, serial, wallet from serial_claim where event_id = ${event} and day = ${day}`,
    PAGE_WITHIN_MS,
  );
  const counted = { A: new Map<number, string>(), B: new Map<number, string>() };
  for (const { collection, serial, wallet } of rows) {
    counted[collection].set(serial, walletOf(wallet));
  }
  return counted;
}

/** An event's stored counter beside what its stars add up to. */
export async function totalsOfEvent(
  sql: Sql,
  event: string,
): Promise<{ readonly stored: number; readonly summed: number }> {
  const [row] = await runStatement(
    sql<{ stored: number; summed: number }[]>`
      select coalesce((select weight from event_total where event_id = ${event}), 0) as stored,
        (select coalesce(sum(weight), 0)::bigint from star
          where target_type = 'event' and target_id = ${event}) as summed`,
    PAGE_WITHIN_MS,
  );
  return row ?? { stored: 0, summed: 0 };
}
