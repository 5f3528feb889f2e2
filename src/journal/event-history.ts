import { type Day, endOfDay, startOfDay } from "../../actors/day.ts";
import { type EventDayState, eventDay } from "../../actors/event-day.ts";
import type { Counted } from "../../actors/nft-accounting.ts";
import { letOthersIn } from "../let-others-in.ts";
import { inTime, type Sql } from "../store/postgres.ts";
import { walletOf } from "./star-record.ts";

/** A star as the journal tells it to an event's actor. */
export interface EventDayStar {
  readonly id: string;
  readonly at: number;
  readonly wallet: string;
  readonly weight: number;
  readonly heldA: readonly number[];
  readonly heldB: readonly number[];
}

/** Names an event's actor of one UTC day. */
export interface EventDayKey {
  readonly event: string;
  readonly day: Day;
}

/** The actor as folded, and the first star that does not follow from those before it. */
export interface FoldedEventDay {
  readonly state: EventDayState;
  readonly contradiction: string | null;
}

/** Stars of one read: to fold them takes some 10 ms, and the process may be one that voters use. */
const PAGE = 500;
/** A fold may take as long as it takes, a statement may not. */
const PAGE_WITHIN_MS = 30_000;

/**
 * All stars that an event has on one day when it is asked, in the journal's order, page by page.
 * No index has that order for one event, and to sort its day for each page would take the square
 * of its stars: so their numbers are read first, in order, and each page is looked up by them.
 */
export async function* starsOfEventDay(
  sql: Sql,
  { event, day }: EventDayKey,
): AsyncGenerator<readonly EventDayStar[]> {
  const [row] = await inTime(
    sql<{ numbers: string }[]>`
      select coalesce(string_agg(seq::text, ' ' order by seq), '') as numbers from star
      where day = ${day} and target_type = 'event' and target_id = ${event}
        and at >= ${startOfDay(day)} and at < ${endOfDay(day)}`,
    PAGE_WITHIN_MS,
  );
  const numbers = row === undefined || row.numbers === "" ? [] : row.numbers.split(" ");
  for (let from = 0; from < numbers.length; from += PAGE) {
    const page = numbers.slice(from, from + PAGE).map(Number);
    const rows = await inTime(
      sql<(Omit<EventDayStar, "wallet"> & { wallet: number })[]>`
        select id, at, wallet, weight, held_a as "heldA", held_b as "heldB" from star
        where day = ${day} and seq = any(${page}::bigint[]) order by seq`,
      PAGE_WITHIN_MS,
    );
    yield rows.map(({ wallet, ...star }) => ({ ...star, wallet: walletOf(wallet) }));
    await letOthersIn();
  }
}

/**
 * Folds an event's day through its machine: each star must come out with the weight it was
 * given. The machine is shown the slice of each star, as when the star was decided: copying the
 * whole day for each of its stars would take the square of their number.
 *
 * @param starsMax folds the first of the day's stars alone: the actor as it was then
 */
export async function foldEventDay(
  sql: Sql,
  { event, day }: EventDayKey,
  starsMax = Number.POSITIVE_INFINITY,
): Promise<FoldedEventDay> {
  const key = { event, day };
  const counted = { A: {} as Record<number, string>, B: {} as Record<number, string> };
  let weight = 0;
  let stars = 0;
  const folded = (contradiction: string | null): FoldedEventDay => ({
    state: {
      value: stars === 0 ? "quiet" : "counting",
      context: { ...key, weight, stars, counted },
    },
    contradiction,
  });
  for await (const page of starsOfEventDay(sql, key)) {
    for (const star of page) {
      if (stars === starsMax) return folded(null);
      const { wallet } = star;
      const holdings = { collectionA: star.heldA, collectionB: star.heldB, readAt: star.at };
      const slice = { A: pick(counted.A, star.heldA), B: pick(counted.B, star.heldB) };
      const [, decision] = eventDay.step(
        { value: "counting", context: { ...key, weight, stars, counted: slice } },
        { type: "star", wallet, holdings },
      );
      if (decision.weight !== star.weight) {
        return folded(`star ${star.id} weighs ${star.weight}, the machine says ${decision.weight}`);
      }
      weight += decision.weight;
      stars += 1;
      for (const serial of decision.claims.a) counted.A[serial] = wallet;
      if (decision.claims.b !== null) counted.B[decision.claims.b] = wallet;
    }
  }
  return folded(null);
}

function pick(
  counted: Readonly<Record<number, string>>,
  serials: readonly number[],
): Record<number, string> {
  const picked: Record<number, string> = {};
  for (const serial of serials) {
    const wallet = counted[serial];
    if (wallet !== undefined) picked[serial] = wallet;
  }
  return picked;
}

/** What the claims say has counted on an event's day. */
export async function claimsOfEventDay(sql: Sql, { event, day }: EventDayKey): Promise<Counted> {
  const rows = await inTime(
    sql<{ collection: "A" | "B"; serial: number; wallet: number }[]>`
      select collection, serial, wallet from serial_claim where event_id = ${event} and day = ${day}`,
    PAGE_WITHIN_MS,
  );
  const counted = { A: {} as Record<number, string>, B: {} as Record<number, string> };
  for (const { collection, serial, wallet } of rows) counted[collection][serial] = walletOf(wallet);
  return counted;
}

/** An event's stored counter beside what its stars add up to. */
export async function totalsOfEvent(
  sql: Sql,
  event: string,
): Promise<{ readonly stored: number; readonly summed: number }> {
  const [row] = await inTime(
    sql<{ stored: number; summed: number }[]>`
      select coalesce((select weight from event_total where event_id = ${event}), 0) as stored,
        (select coalesce(sum(weight), 0)::bigint from star
          where target_type = 'event' and target_id = ${event}) as summed`,
    PAGE_WITHIN_MS,
  );
  return row ?? { stored: 0, summed: 0 };
}
