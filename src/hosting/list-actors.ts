import { DAY_MS, type Day, dayOf, endOfDay, isDay, startOfDay } from "../../actors/day.ts";
import { dayOfStarId, instantOfStarId } from "../journal/star-id.ts";
import { accountNumber, walletOf } from "../journal/star-record.ts";
import { isEntityId } from "../ledger/entity-id.ts";
import { listWalletDays } from "../reads/console-actors.ts";
import { namedLike } from "../reads/named-like.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { ACTOR_TYPES, type ActorType, parseActorName } from "./actor-name.ts";

export interface ActorQuery {
  /** All types when absent. */
  readonly type?: ActorType | undefined;
  /** A type, a wallet, a day and part of an event's id, or some of them, as a name has them. */
  readonly q?: string | undefined;
  readonly limit: number;
  /** Only actors after this one, by the order of the list. */
  readonly after?: Place | undefined;
}

export interface ListedActor {
  readonly id: string;
  readonly type: ActorType;
  readonly version: number;
  /** Instant of its last star, epoch milliseconds. */
  readonly lastAt: number;
  readonly lastStar: string;
}

type Place = Pick<ListedActor, "type" | "lastStar">;

/** What is looked for: each part has an index of the whole journal. */
interface Search {
  readonly wallet: string | undefined;
  readonly day: Day | undefined;
  /** Part of an event's id, or all of it. */
  readonly text: string;
  readonly isWhole: boolean;
  readonly limit: number;
  readonly after: Place;
}

const START: Place = { type: "wallet-day", lastStar: "ffffffff-ffff-ffff-ffff-ffffffffffff" };

/**
 * The actors that a star has reached, the one starred last first. A star's id begins with its instant,
 * so it gives the order; of the two actors of one star the wallet's comes first.
 */
export async function listActors(
  sql: Sql,
  { type, q = "", limit, after = START }: ActorQuery,
): Promise<readonly ListedActor[]> {
  const { type: named, wallet, day, event: text = "", isWhole } = readNamed(q);
  const found = await Promise.all(
    ACTOR_TYPES.filter((known) => [known, undefined].includes(type))
      .filter((known) => [known, undefined].includes(named))
      .map((known) => LISTS[known](sql, { wallet, day, text, isWhole, limit, after })),
  );
  return found.flat().sort(newestFirst).slice(0, limit);
}

/** Reads a whole name, or some words of one. */
function readNamed(q: string): Named {
  const name = parseActorName(q);
  if (name !== undefined) return { ...name, isWhole: true };
  const words = q.split(/[\s/]+/).filter(Boolean);
  const type = ACTOR_TYPES.find((known) => known === words[0]);
  const others = type === undefined ? words : words.slice(1);
  const [wallet, day] = [others.find(isEntityId), others.find(isDay)];
  const event = others.filter((word) => word !== wallet && word !== day).join("/");
  return { type, wallet, day, event, isWhole: false };
}

interface Named {
  readonly type?: ActorType | undefined;
  readonly wallet?: string | undefined;
  readonly day?: Day | undefined;
  readonly event?: string;
  readonly isWhole: boolean;
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

async function walletDays(sql: Sql, search: Search): Promise<readonly ListedActor[]> {
  const { wallet, day, text, limit, after } = search;
  if (text !== "") return [];
  const from = dayOfStarId(after.lastStar);
  const rows = await listWalletDays(sql, {
    wallet: wallet === undefined ? undefined : accountNumber(wallet),
    day,
    limit,
    after: from === null ? undefined : { day: from, starId: after.lastStar },
  });
  return rows.map(({ wallet, day, stars, lastAt, starId }) => {
    const id = `wallet-day/${walletOf(wallet)}/${day}`;
    return { id, type: "wallet-day", version: stars, lastAt, lastStar: starId };
  });
}

/** Days of the first look at the journal; each further one is twice as long as the one before. */
const FIRST_LOOK_DAYS = 32;

/** Looks further and further back until a page is full: lists begin with what is new. */
async function eventDays(sql: Sql, search: Search): Promise<readonly ListedActor[]> {
  const { wallet, day, limit, after } = search;
  if (wallet !== undefined) return [];
  const [{ first, last }] = await runStatement(
    day === undefined
      ? sql<[Span]>`select min(day) as first, max(day) as last from star`
      : sql<[Span]>`select ${day}::date as first, ${day}::date as last`,
  );
  if (first === null || last === null) return [];
  const place = dayOfStarId(after.lastStar) ?? last;
  const found: ListedActor[] = [];
  let to = place < last ? place : last;
  for (let days = FIRST_LOOK_DAYS; to >= first && found.length < limit; days *= 2) {
    const back = dayOf(endOfDay(to) - days * DAY_MS);
    const from = back > first ? back : first;
    const look = { ...search, limit: limit - found.length };
    found.push(...(await eventDaysBetween(sql, look, [from, to])));
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
): Promise<readonly ListedActor[]> {
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
  return runStatement(sql<ListedActor[]>`
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
    select 'event-day/' || event_id || '/' || utc_day(at) as id, 'event-day' as type,
      (select count(*) from star where ${starred}
        and star.at >= page.at / ${DAY_MS}::bigint * ${DAY_MS}::bigint and star.at <= page.at) as version,
      at as "lastAt", id as "lastStar"
    from (select * from shown order by id desc limit ${limit}) page order by page.id desc`);
}

function named(sql: Sql, { text, isWhole }: Search) {
  return isWhole ? sql`event_id = ${text}` : namedLike(sql, text, sql`event_id`);
}

async function foreverMints(sql: Sql, search: Search): Promise<readonly ListedActor[]> {
  const { wallet, day, limit, after } = search;
  if (wallet !== undefined || day !== undefined) return [];
  return runStatement(sql<ListedActor[]>`
    select 'forever-mint/' || event_id as id, 'forever-mint' as type, stars as version,
      last.at as "lastAt", last.id as "lastStar"
    from event_total join event on event.id = event_id and is_forever_mint
    cross join lateral (
      select id, at from star where target_type = 'event' and target_id = event_id
      order by at desc, id desc limit 1) last
    where ${named(sql, search)}
      and (last.id, 'forever-mint') < (${after.lastStar}::uuid, ${after.type})
    order by last.id desc limit ${limit}`);
}
