import type { TargetType } from "../../actors/content.ts";
import { endOfDay, instant, startOfDay } from "../../actors/day.ts";
import { entityNumber } from "../ledger/entity-id.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import type { ActorName } from "./actor-name.ts";
import { type Resting, type ShownActor, showActor } from "./show-actor.ts";

/**
 * An actor as JSON shows it, at `actors show`, `actors replay` and, with its history, over HTTP: the
 * instants of its stars as text, as everywhere else (contract, section 1).
 */
export function actorBody<A extends Pick<ShownActor, "context">>(actor: A): A {
  const { stars } = actor.context as {
    readonly stars: number | readonly { readonly at: number }[];
  };
  // An event's actors count theirs.
  if (typeof stars === "number") return actor;
  return { ...actor, context: { ...(actor.context as object), stars: stars.map(withInstant) } };
}

/**
 * The same with its history, at `/ops/api/actors/<id>` and at the console: a star that comes while both are
 * read is in neither.
 *
 * @throws what `showActor` throws
 */
export async function actorWithHistory(sql: Sql, resting: Resting, name: ActorName) {
  const actor = await showActor(sql, resting, name);
  const history = await actorHistory(sql, name, actor.version);
  return { ...actorBody(actor), history: history.map(withInstant) };
}

function withInstant<S extends { readonly at: number }>(star: S) {
  return { ...star, at: instant(star.at) };
}

interface HistoryStar {
  readonly starId: string;
  readonly at: number;
  readonly wallet: string;
  readonly target: { readonly type: TargetType; readonly id: string };
  readonly votingPower: number;
  readonly weight: number;
}

/** A busy event has many; the newest show what is going on. */
const STARS_MAX = 100;

/**
 * The accepted stars an actor's state follows from, the last one first, 100 at most. From the journal, so
 * it is the same with and without Redis; in the actor's own order, which a recovery keeps.
 *
 * @param version so many stars make the state; those that came since are left out
 */
async function actorHistory(
  sql: Sql,
  name: ActorName,
  version: number,
): Promise<readonly HistoryStar[]> {
  return runStatement(sql<HistoryStar[]>`
    select id as "starId", at, '0.0.' || wallet as wallet,
      json_build_object('type', target_type, 'id', target_id) as target,
      voting_power as "votingPower", weight
    from ${lastOf(sql, name, version)}`);
}

function lastOf(sql: Sql, name: ActorName, version: number) {
  if (name.type === "wallet-day") {
    const wallet = entityNumber(name.wallet);
    return sql`star where wallet = ${wallet} and day = ${name.day} and slot <= ${version} order by slot desc`;
  }
  if (name.type === "forever-mint") {
    return sql`(select seq, day, star_id from mint_star
        where event_id = ${name.event} order by seq desc limit ${STARS_MAX}
        offset greatest(0, (select stars from event_total where event_id = ${name.event}) - ${version})) place
      cross join lateral (select * from star where star.day = place.day and id = star_id limit 1) star
      order by place.seq desc`;
  }
  const [from, to] = [startOfDay(name.day), endOfDay(name.day)];
  const ofDay = sql`star where target_type = 'event' and target_id = ${name.event}
    and day = ${name.day} and at >= ${from} and at < ${to}`;
  return sql`${ofDay} order by seq desc limit ${STARS_MAX}
    offset greatest(0, (select count(*) from ${ofDay}) - ${version})`;
}
