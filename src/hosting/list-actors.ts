import { DAY_MS, type Day, dayOf, endOfDay, isDay, startOfDay } from "../../actors/day.ts";
import { dayOfStarId, instantOfStarId } from "../journal/star-id.ts";
import { entityNumber, isEntityId } from "../ledger/entity-id.ts";
import { namedLike } from "../reads/named-like.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { ACTOR_TYPES, type ActorType, parseActorName } from "./actor-name.ts";

export interface ActorQuery {
  /** All types when absent. */
  readonly type?: ActorType | undefined;
  /** A type, a wallet, a day and part of an event's id or title, or some of them, as a name has them. */
  readonly q?: string | undefined;
  readonly limit: number;
  /** Only actors after this one, by the order of the list. */
  readonly after?: Place | undefined;
}

export interface FoundActor {
  readonly id: string;
  readonly type: ActorType;
  /** Null of an event's day: nothing counts its stars but a walk over them. */
  readonly version: number | null;
  /** Instant of its last star, epoch milliseconds. */
  readonly lastAt: number;
  readonly lastStar: string;
}

export interface ListedActor extends FoundActor {
  readonly version: number;
}

type Place = Pick<FoundActor, "type" | "lastStar">;

/** What a text names of an actor: each part has an index of the whole journal. */
interface Named {
  readonly type?: ActorType | undefined;
  readonly wallet?: string | undefined;
  readonly day?: Day | undefined;
  /** Part of an event's id or title; where it is whole, all of its id. */
  readonly event: string;
  readonly isWhole: boolean;
}

interface Search extends Named {
  readonly limit: number;
  readonly after: Place;
}

const START: Place = { type: "wallet-day", lastStar: "ffffffff-ffff-ffff-ffff-ffffffffffff" };

/** For one statement: five of 24,000 stars each take a part of the 1.5 s that a reader's has, fifty take more. */
const DAYS_AT_ONCE = 5;

/**
 * The actors that `findActors` finds, each with its version. That of an event's day costs a walk over its
 * stars, so a few days are counted at a time.
 */
export async function listActors(sql: Sql, query: ActorQuery): Promise<readonly ListedActor[]> {
  const found = await findActors(sql, query);
  const uncounted = found.filter(({ version }) => version === null);
  const counts = new Map<string, number>();
  for (let from = 0; from < uncounted.length; from += DAYS_AT_ONCE) {
    const few = uncounted.slice(from, from + DAYS_AT_ONCE);
    for (const [id, stars] of await countStars(sql, few)) counts.set(id, stars);
  }
  return found.map((actor) => ({ ...actor, version: actor.version ?? counts.get(actor.id) ?? 0 }));
}

/** The stars of events' days, up to the last one that was found: later ones are no part of the list. */
async function countStars(
  sql: Sql,
  found: readonly FoundActor[],
): Promise<ReadonlyMap<string, number>> {
  const days = found.map(({ lastAt }) => dayOf(lastAt)).sort();
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return new Map();
  const rows = await runStatement(sql<{ id: string; stars: number }[]>`
    select listed.id, (select count(*) from star
      where day between ${first} and ${last} and target_type = 'event' and target_id = split_part(listed.id, '/', 2)
        and at >= last_at / ${DAY_MS}::bigint * ${DAY_MS}::bigint and at <= last_at) as stars
    from unnest(${found.map(({ id }) => id)}::text[], ${found.map(({ lastAt }) => lastAt)}::bigint[])
      as listed (id, last_at)`);
  return new Map(rows.map(({ id, stars }) => [id, stars]));
}

/**
 * The actors that a star has reached, the one starred last first. A star's id begins with its instant,
 * so it gives the order; of the two actors of one star the wallet's comes first.
 */
export async function findActors(
  sql: Sql,
  { type, q = "", limit, after = START }: ActorQuery,
): Promise<readonly FoundActor[]> {
  const named = readNamed(q);
  const found = await Promise.all(
    ACTOR_TYPES.filter((known) => [known, undefined].includes(type))
      .filter((known) => [known, undefined].includes(named.type))
      // Every name with this day is of another type. A question for mints alone means those starred on it.
      .filter((known) => known !== "forever-mint" || named.day === undefined || known === type)
      .map((known) => LISTS[known](sql, { ...named, limit, after })),
  );
  return found.flat().sort(newestFirst).slice(0, limit);
}

/** Reads a whole name, or some words of one. */
export function readNamed(q: string): Named {
  const name = parseActorName(q);
  if (name !== undefined) return { event: "", ...name, isWhole: true };
  // Keeps the spaces and slashes between the words: part of a title, as `Spring / Gathering`, is looked
  // for with those it has.
  const words = q.trim().split(/([\s/]+)/);
  const type = ACTOR_TYPES.find((known) => known === words[0]);
  const others = type === undefined ? words : words.slice(1);
  const [wallet, day] = [others.find(isEntityId), others.find(isDay)];
  const rest = others.filter((word) => word !== wallet && word !== day).join("");
  const event = rest.replace(/^[\s/]+|[\s/]+$/g, "").replace(/\s+/g, " ");
  return { type, wallet, day, event, isWhole: false };
}

function newestFirst(one: Place, other: Place): number {
  const [first, second] = [one, other].map(({ lastStar, type }) => `${lastStar} ${type}`);
  return (first ?? "") > (second ?? "") ? -1 : 1;
}

const LISTS: Readonly<Record<ActorType, typeof walletDays>> = {
  "wallet-day": walletDays,
  "event-day": eventDays,
  "forever-mint": foreverMints,
};

/**
 * A star is its wallet-day's last one when the next slot is empty, so a page costs its rows and a few
 * look-ups by key, however long the journal is.
 */
async function walletDays(sql: Sql, search: Search): Promise<readonly FoundActor[]> {
  const { wallet, day, event, limit, after } = search;
  if (event !== "") return [];
  const from = dayOfStarId(after.lastStar);
  const ofDay = day === undefined ? sql`true` : sql`day = ${day}`;
  // A wallet's stars are few: without the offset they may be looked for among all, newest first.
  const stars =
    wallet === undefined
      ? sql`star`
      : sql`(select * from star where wallet = ${entityNumber(wallet)} and ${ofDay} offset 0) star`;
  return runStatement(sql<FoundActor[]>`
    select 'wallet-day/0.0.' || wallet || '/' || day as id, 'wallet-day' as type, slot as version,
      at as "lastAt", id as "lastStar"
    from ${stars}
    where ${ofDay}
      and ${from === null ? sql`true` : sql`day <= ${from} and (day, id) < (${from}, ${after.lastStar})`}
      and not exists (select from star later
        where later.wallet = star.wallet and later.day = star.day and later.slot = star.slot + 1)
    order by day desc, star.id desc limit ${limit}`);
}

/** Days of the first look at the journal; each further one is twice as long as the one before. */
const FIRST_LOOK_DAYS = 32;

/** Looks further and further back until a page is full: lists begin with what is new. */
async function eventDays(sql: Sql, search: Search): Promise<readonly FoundActor[]> {
  const { wallet, day, limit, after } = search;
  if (wallet !== undefined) return [];
  const [{ first, last }] =
    day === undefined
      ? await runStatement(sql<[Span]>`select min(day) as first, max(day) as last from star`)
      : [{ first: day, last: day }];
  if (first === null || last === null) return [];
  const place = dayOfStarId(after.lastStar) ?? last;
  const found: FoundActor[] = [];
  let to = place < last ? place : last;
  for (let days = FIRST_LOOK_DAYS; to >= first && found.length < limit; days *= 2) {
    const back = dayOf(endOfDay(to) - days * DAY_MS);
    const from = back > first ? back : first;
    found.push(...(await eventDaysBetween(sql, search, [from, to])));
    to = dayOf(startOfDay(from) - DAY_MS);
  }
  return found;
}

interface Span {
  readonly first: Day | null;
  readonly last: Day | null;
}

/**
 * Each event's last star before the place where the page begins, then from day to day by key: a look
 * costs a look-up per event, and those of its own days, each in the partitions of these days alone. A
 * day whose last star is not before that place is of an earlier page.
 */
async function eventDaysBetween(
  sql: Sql,
  search: Search,
  [from, to]: readonly [from: Day, to: Day],
): Promise<readonly FoundActor[]> {
  const { limit, after } = search;
  const at = instantOfStarId(after.lastStar);
  const place = sql`(${after.lastStar}::uuid, ${after.type})`;
  const starred = sql`star.day between ${from} and ${to} and target_type = 'event' and target_id = event_id`;
  const before =
    dayOfStarId(after.lastStar) === to
      ? sql`at < case when exists (select from star where ${starred}
          and at >= ${at}::bigint and at < ${endOfDay(to)}::bigint and (id, 'event-day') >= ${place}
        ) then ${startOfDay(to)}::bigint else ${at + 1}::bigint end`
      : sql`true`;
  return runStatement(sql<FoundActor[]>`
    with recursive shown as (
      (select event_id, last.id, last.at, 1 as place
        from event_total join event on event.id = event_id and not is_forever_mint
        cross join lateral (
          select id, at from star
          where ${starred} and (id, 'event-day') < ${place} and ${before}
          order by at desc, id desc limit 1) last
        where ${named(sql, search)}
        order by last.id desc limit ${limit})
      union all
      select event_id, earlier.id, earlier.at, place + 1 from shown cross join lateral (
        select id, at from star
        where ${starred} and at < shown.at / ${DAY_MS}::bigint * ${DAY_MS}::bigint
        order by at desc, id desc limit 1) earlier
      where place < ${limit}
    )
    select 'event-day/' || event_id || '/' || utc_day(at) as id, 'event-day' as type, null as version,
      at as "lastAt", id as "lastStar"
    from shown order by shown.id desc limit ${limit}`);
}

function named(sql: Sql, { event, isWhole }: Search) {
  if (isWhole) return sql`event_id = ${event}`;
  return namedLike(sql, event || undefined, sql`concat_ws(e'\n', event_id, title)`);
}

/** With a day, those that were starred on it, by its last star. */
async function foreverMints(sql: Sql, search: Search): Promise<readonly FoundActor[]> {
  const { wallet, day, limit, after } = search;
  if (wallet !== undefined) return [];
  const ofDay =
    day === undefined
      ? sql`true`
      : sql`star.day = ${day} and at >= ${startOfDay(day)} and at < ${endOfDay(day)}`;
  return runStatement(sql<FoundActor[]>`
    select 'forever-mint/' || event_id as id, 'forever-mint' as type, stars as version,
      last.at as "lastAt", last.id as "lastStar"
    from event_total join event on event.id = event_id and is_forever_mint
    cross join lateral (
      select id, at from star where target_type = 'event' and target_id = event_id and ${ofDay}
      order by at desc, id desc limit 1) last
    where ${named(sql, search)}
      and (last.id, 'forever-mint') < (${after.lastStar}::uuid, ${after.type})
    order by last.id desc limit ${limit}`);
}
