import { bounds } from "../bounds.ts";
import type { EventStatus, EventType } from "../store/enumerations.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { type NamedQuery, namedLike } from "./named-like.ts";

/** An approved event; instants are epoch milliseconds. */
export interface EventRow {
  readonly id: string;
  readonly title: string;
  readonly description: string | null;
  readonly eventType: EventType;
  readonly isForeverMint: boolean;
  readonly source: string | null;
  readonly startsAt: number;
  /** Null for forever mints alone: they have no end. */
  readonly endsAt: number | null;
  readonly host: string | null;
  readonly location: string | null;
  readonly imageUrl: string | null;
  readonly url: string | null;
  readonly createdAt: number;
  /** The weight of all its stars. */
  readonly totalVotes: number;
}

export interface EventDetail extends EventRow {
  readonly links: readonly { readonly label: string; readonly url: string }[];
  readonly prizes: readonly {
    readonly title: string;
    readonly description: string | null;
    readonly value: string | null;
  }[];
}

/** A name is a title; by `now` the status is judged too. */
export interface EventFilter extends NamedQuery {
  /** Absent: all that has not ended. */
  readonly status?: EventStatus | "all" | undefined;
  readonly eventType?: EventType | undefined;
  readonly source?: string | undefined;
}

/** `upcoming` before the start, `ended` from the end, else `live`. */
export function eventStatus(
  event: { readonly startsAt: number; readonly endsAt: number | null },
  now: number,
): EventStatus {
  if (now < event.startsAt) return "upcoming";
  return event.endsAt !== null && event.endsAt <= now ? "ended" : "live";
}

/** The next instant at which the clock alone changes that status, `Infinity` when none is left. */
export function statusEnds(
  { startsAt, endsAt }: { readonly startsAt: number; readonly endsAt: number | null },
  now: number,
): number {
  const ahead = [startsAt, endsAt ?? Number.POSITIVE_INFINITY].filter((at) => at > now);
  return Math.min(...ahead, Number.POSITIVE_INFINITY);
}

/**
 * A page of the approved events that pass the filter, soonest first, then by id.
 *
 * @returns the page, the number of events that pass the filter, on all pages together, and
 *   the next instant at which an event starts or ends, so that the page may change by itself
 */
export async function listEvents(
  sql: Sql,
  filter: EventFilter,
): Promise<{
  readonly events: readonly EventRow[];
  readonly total: number;
  readonly until: number;
}> {
  const rows = await runStatement(
    sql<({ total: number; edge: number | null } & EventRow)[]>`
      select matching.total, ahead.edge, page.*
      from (select count(*) as total from event where ${passing(sql, filter)}) as matching
      cross join (
        select least(min(starts_at) filter (where starts_at > ${filter.now}),
          min(ends_at) filter (where ends_at > ${filter.now}))::bigint as edge
        from event where approved_at is not null
      ) as ahead
      left join lateral (
        select ${columns(sql)}
        from event left join event_total on event_total.event_id = event.id
        where ${passing(sql, filter)}
        order by starts_at, id collate "C" limit ${filter.limit} offset ${filter.offset}
      ) as page on true
      order by page."startsAt", page.id collate "C"`,
    bounds.readDeadlineMs,
  );
  // A page past the end still has its one row with the total, and nothing beside it.
  const events = rows
    .filter(({ id }) => id !== null)
    .map(({ total: _, edge: __, ...event }) => event);
  const until = rows[0]?.edge ?? Number.POSITIVE_INFINITY;
  return { events, total: rows[0]?.total ?? 0, until };
}

/** One approved event with its links and prizes, or undefined. */
export async function readEvent(sql: Sql, id: string): Promise<EventDetail | undefined> {
  const [row] = await runStatement(
    sql<EventDetail[]>`
      select ${columns(sql)}, event.links, event.prizes
      from event left join event_total on event_total.event_id = event.id
      where event.id = ${id} and approved_at is not null`,
    bounds.readDeadlineMs,
  );
  return row;
}

function columns(sql: Sql) {
  return sql`
    event.id, title, description, event_type as "eventType", is_forever_mint as "isForeverMint",
    source, starts_at as "startsAt", ends_at as "endsAt", host, location, image_url as "imageUrl",
    url, coalesce(event_total.weight, 0) as "totalVotes", created_at as "createdAt"`;
}

function passing(sql: Sql, { status, now, ...filter }: EventFilter) {
  const eventType = filter.eventType ?? null;
  const source = filter.source ?? null;
  return sql`approved_at is not null and ${withStatus(sql, status, now)}
    and (${eventType}::text is null or event_type = ${eventType})
    and (${source}::text is null or source = ${source})
    and ${namedLike(sql, filter.q, sql`title`)}`;
}

/** The same lines as `eventStatus`; a test holds the two together. */
function withStatus(sql: Sql, status: EventFilter["status"], now: number) {
  switch (status) {
    case "all":
      return sql`true`;
    case "upcoming":
      return sql`starts_at > ${now}`;
    case "live":
      return sql`starts_at <= ${now} and (ends_at is null or ends_at > ${now})`;
    case "ended":
      return sql`ends_at <= ${now}`;
    case undefined:
      return sql`(ends_at is null or ends_at > ${now})`;
  }
}
