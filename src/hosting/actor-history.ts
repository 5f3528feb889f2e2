import type { TargetType } from "../../actors/content.ts";
import { endOfDay, startOfDay } from "../../actors/day.ts";
import { accountNumber } from "../journal/star-record.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import type { ActorName } from "./actor-name.ts";

/** One accepted star of an actor's history. */
export interface HistoryStar {
  readonly starId: string;
  /** Epoch milliseconds. */
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
export async function actorHistory(
  sql: Sql,
  name: ActorName,
  version: number,
): Promise<readonly HistoryStar[]> {
  return runStatement(
    sql<HistoryStar[]>`
      select id as "starId", at, '0.0.' || wallet as wallet,
        json_build_object('type', target_type, 'id', target_id) as target,
        voting_power as "votingPower", weight
      from ${lastOf(sql, name, version)}`,
  );
}

function lastOf(sql: Sql, name: ActorName, version: number) {
  if (name.type === "wallet-day") {
    const wallet = accountNumber(name.wallet);
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
