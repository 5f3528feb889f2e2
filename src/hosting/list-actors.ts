import { runStatement, type Sql } from "../store/postgres.ts";
import type { ActorType } from "./actor-name.ts";

/** Which actors to list. */
export interface ActorQuery {
  /** All types when absent. */
  readonly type?: ActorType | undefined;
  /** Text that the id holds: a wallet, an event, a day. */
  readonly q?: string | undefined;
  readonly limit: number;
  /** Only actors after this one, by the order of the list. */
  readonly after?: Pick<ListedActor, "lastAt" | "id"> | undefined;
}

/** An actor in a list. */
export interface ListedActor {
  readonly id: string;
  readonly type: ActorType;
  readonly version: number;
  /** Instant of its last star, epoch milliseconds. */
  readonly lastAt: number;
}

/** How many of the newest stars are searched without a query: lists stay cheap on any journal. */
const RECENT_STARS = 20_000;

/** The actors that were starred most recently, newest first. */
export async function listActors(
  sql: Sql,
  { type, q = "", limit, after }: ActorQuery,
): Promise<readonly ListedActor[]> {
  const pattern = `%${q.replace(/[\\%_]/g, "\\$&")}%`;
  const rows = await runStatement(
    sql<ListedActor[]>`
      with recent as (
        select * from star order by day desc, id desc limit ${RECENT_STARS}
      ), named as (
        select 'wallet-day' as type, 'wallet-day/0.0.' || wallet || '/' || day as id, at from recent
        union all
        select 'event-day', 'event-day/' || target_id || '/' || day, at from recent
          where target_type = 'event' and not is_forever_mint
        union all
        select 'forever-mint', 'forever-mint/' || target_id, at from recent where is_forever_mint
      )
      select id, type, count(*) as version, max(at) as "lastAt" from named
      where id like ${pattern} ${type === undefined ? sql`` : sql`and type = ${type}`}
      group by id, type
      having ${after === undefined ? sql`true` : sql`(-max(at), id) > (${-after.lastAt}::bigint, ${after.id})`}
      order by max(at) desc, id limit ${limit}`,
  );
  return [...rows];
}
