import { type Day, dayOf, endOfDay } from "../../actors/day.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import {
  EXPORT_FORMAT,
  type ExportEntry,
  type ExportHeader,
  exportHeader,
  GENESIS,
} from "./export-format.ts";
import { type ExportSettings, parseNoted, settingsOf } from "./export-settings.ts";
import type { WrittenExport } from "./write-export.ts";

/** A day is closed no earlier than this after its end: a statement lasts 1.8 s at most. */
const CLOSED_AFTER_MS = 5_000;

/** The header of a day: final with the chain hash of the day before, provisional with null. */
export function headerOf(
  day: Day,
  settings: ExportSettings,
  previous: string | null,
  isRecovered = false,
): ExportHeader {
  const { network, topics, collections, excludedWallets, xpPerStar } = settings;
  return {
    kind: "header",
    format: EXPORT_FORMAT,
    day,
    final: previous !== null,
    network,
    topics,
    collections,
    excludedWallets,
    xpPerStar,
    previous,
    ...(isRecovered && { recovered: true as const }),
  };
}

/** A day that is final: what its export must be. */
export interface FinalDay {
  readonly header: ExportHeader;
  readonly sha256: string;
  /** Of the whole export. */
  readonly bytes: number;
}

/**
 * Looks up a day.
 *
 * @returns `final`: null while the day is provisional; `settings`: those of the day, where it is over
 *   and workers have noted any; `exists`: whether the journal covers it, from its first star's day,
 *   or today, until today
 */
export async function findExport(
  sql: Sql,
  day: Day,
): Promise<{
  readonly final: FinalDay | null;
  readonly settings: ExportSettings | null;
  readonly exists: boolean;
}> {
  const [row] = await runStatement(
    sql<
      [Span & Record<"header" | "sha256" | "settings", string | null> & { bytes: number | null }]
    >`
      select span.*, header, sha256, bytes, case when ${day}::date < today then ${settingsOf(sql, day)} end as settings
      from (${span(sql)}) span left join export_day on day = ${day}`,
  );
  const { first, today, header, sha256, bytes } = row;
  const settings = parseNoted(row.settings);
  if (header === null || sha256 === null || bytes === null) {
    return { final: null, settings, exists: day >= first && day <= today };
  }
  const final = { header: exportHeader.parse(JSON.parse(header)), sha256, bytes };
  return { final, settings, exists: true };
}

/** Every day of the journal, oldest first. */
export async function listExports(sql: Sql): Promise<readonly ExportEntry[]> {
  return await runStatement(sql<ExportEntry[]>`
    select all_days.day::date as day, sha256 is not null as final, stars, releases, sha256, chain, bytes
    from (${span(sql)}) span
    cross join generate_series(first::timestamp, today::timestamp, interval '1 day') as all_days (day)
    left join export_day on export_day.day = all_days.day::date
    order by all_days.day`);
}

interface Span {
  readonly first: Day;
  readonly today: Day;
}

/** First and last day that have an export. Text compares as days do: years have four digits. */
function span(sql: Sql) {
  return sql`
    select utc_day(now_ms()) as today,
      coalesce((select min(day) from export_day), ${firstDay(sql)}, utc_day(now_ms())) as first`;
}

/** The day of the first star, or of the first loss that was accepted; a part of a select. */
function firstDay(sql: Sql) {
  return sql`least((select min(day) from star), (select utc_day(min(resolved_at))
    from publishing_finding where kind = 'lost' and resolved_at is not null))`;
}

/**
 * The oldest day that is closed and not final yet; null where there is none, or where one of its
 * stars, or an older one, is still to be published.
 *
 * @returns `previous`: the chain hash it continues; `isRecovered`: whether stars of it came back
 *   from the ledger after a loss; `settings`: those of the day, where workers have noted any
 */
export async function nextFinalDay(sql: Sql) {
  const [row] = await runStatement(
    sql<[{ last: Day | null; chain: string | null; first: Day | null; now: number }]>`
      select last.day as last, last.chain, ${firstDay(sql)} as first, now_ms() as now
      from (select) one left join (
        select day, chain from export_day order by day desc limit 1) last on true`,
  );
  const day = row.last === null ? row.first : dayOf(endOfDay(row.last));
  if (day === null || row.now < endOfDay(day) + CLOSED_AFTER_MS) return null;
  const [state] = await runStatement(
    sql<[{ waits: boolean; isRecovered: boolean; settings: string | null }]>`
      select exists (select from recovered_day where day = ${day}) as "isRecovered",
        ${settingsOf(sql, day)} as settings,
        exists (select from outbox
          where state <> 'published' and star_id < first_star_id(${endOfDay(day)}::bigint)) as waits`,
  );
  if (state.waits) return null;
  const { isRecovered, settings } = state;
  return { day, previous: row.chain ?? GENESIS, isRecovered, settings: parseNoted(settings) };
}

/** Makes a day final, unless another worker just did. */
export async function makeFinal(
  sql: Sql,
  header: ExportHeader,
  { footer, bytes }: WrittenExport,
): Promise<void> {
  await runStatement(sql`
    insert into export_day (day, header, stars, releases, bytes, sha256, previous, chain)
    values (${header.day}, ${JSON.stringify(header)}, ${footer.stars}, ${footer.releases}, ${bytes},
      ${footer.sha256}, ${header.previous}, ${footer.chain})
    on conflict do nothing`);
}

/**
 * Final days to look at again: the newest, and the one that was looked at longest ago; none that
 * was looked at within the given time.
 */
export async function daysToCheck(sql: Sql, everyMs: number): Promise<readonly Day[]> {
  const rows = await runStatement(sql<{ day: Day }[]>`
    select day from (
      (select day from export_day order by day desc limit 1)
      union
      (select day from export_day left join export_check using (day)
        order by checked_at nulls first, day limit 1)
    ) looked_at left join export_check using (day)
    where coalesce(checked_at, 0) not between now_ms() - ${everyMs}::bigint and now_ms()
    order by day`);
  return rows.map(({ day }) => day);
}

export async function noteCheck(sql: Sql, day: Day, sha256: string): Promise<void> {
  await runStatement(sql`
    insert into export_check (day, sha256, checked_at) values (${day}, ${sha256}, now_ms())
    on conflict (day) do update set sha256 = excluded.sha256, checked_at = excluded.checked_at`);
}

/** The newest final day, which takes no star; null while there is none. */
export async function lastFinalDay(sql: Sql): Promise<Day | null> {
  const [row] = await runStatement(
    sql<{ day: Day }[]>`select day from export_day order by day desc limit 1`,
  );
  return row?.day ?? null;
}

export interface ExportAlarms {
  /** Final days whose export was another one when last looked at. */
  readonly differing: number;
  /** Days that are over and not final yet. */
  readonly overdue: number;
}

export async function exportAlarms(sql: Sql): Promise<ExportAlarms> {
  const [row] = await runStatement(sql<[ExportAlarms]>`
    select (select count(*) from export_check join export_day using (day)
        where export_check.sha256 <> export_day.sha256) as differing,
      case when exists (select from star)
        then (today - first) - (select count(*) from export_day) else 0 end as overdue
    from (${span(sql)}) span`);
  return { ...row, overdue: Math.max(0, row.overdue) };
}
