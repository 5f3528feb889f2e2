import type { JSONValue } from "postgres";
import { runStatement, type Sql } from "./postgres.ts";

/** The account that pays for messages, as a worker saw it. */
export interface OperatorReport {
  /** `0.0.n` */
  readonly account: string;
  /** Tinybars. */
  readonly balance: number;
  readonly perMessage: number;
  /** Of the last 24 hours. */
  readonly starsPerDay: number;
  /** Epoch milliseconds: since when somebody should send HBAR; null while there is enough. */
  readonly lowSince: number | null;
}

/** What a process sees that is not as it should be. */
export type Trouble =
  | "redisAwaySince"
  | "redisMayEvictSince"
  | "mirrorAwaySince"
  | "databaseFullSince"
  | "rewardsStuckSince"
  | "exportsFailSince";

/** What a process says of itself; each trouble since when it sees it, epoch milliseconds. */
export interface ProcessReport extends Partial<Readonly<Record<Trouble, number | null>>> {
  /** Wallet-day actors in its memory; web processes alone have them. */
  readonly actors?: number;
  readonly memoryMb: number;
  /** Round trips as this process measures them, milliseconds; null: no answer. */
  readonly postgresMs: number | null;
  readonly redisMs: number | null;
  readonly mirrorMs: number | null;
  /** How far the mirror node's newest block lies behind, milliseconds. */
  readonly mirrorBehindMs: number | null;
  /** Workers alone look at it. */
  readonly operator?: OperatorReport | null;
}

export interface ServiceProcess {
  readonly id: string;
  readonly role: "web" | "worker";
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  readonly startedAt: number;
}

/** What was counted or measured since the last report. */
export interface MetricDelta {
  readonly name: string;
  readonly count: number;
  readonly total?: number;
  readonly peak?: number;
}

/** A minute's delta over all processes. */
export interface MinuteDelta extends Required<MetricDelta> {
  /** Minutes since the epoch. */
  readonly minute: number;
}

/** A process as it last reported itself. */
export interface KnownProcess extends ServiceProcess {
  readonly seenAt: number;
  /** Null while it has not stopped in order. */
  readonly stoppedAt: number | null;
  readonly report: ProcessReport;
}

const MINUTE_MS = 60_000;

/**
 * Writes down how a process is and what it counted: two short statements on tables that nothing
 * else locks. Tallies are sorted by name, so two processes never wait for each other in a circle.
 */
export async function writeReport(
  sql: Sql,
  process: ServiceProcess,
  { now, report, deltas }: { now: number; report: ProcessReport; deltas: readonly MetricDelta[] },
): Promise<void> {
  await runStatement(sql`
    insert into service_process (id, role, version, host, pid, started_at, seen_at, report)
    values (${process.id}, ${process.role}, ${process.version}, ${process.host}, ${process.pid},
      ${process.startedAt}, ${now}, ${sql.json({ ...report } as JSONValue)})
    on conflict (id) do update set seen_at = excluded.seen_at, report = excluded.report`);
  if (deltas.length === 0) return;
  const sorted = [...deltas].sort((one, other) => (one.name < other.name ? -1 : 1));
  await runStatement(sql`
    insert into service_minute (minute, name, count, total, peak)
    select ${Math.floor(now / MINUTE_MS)}::int, * from unnest(${sorted.map(({ name }) => name)}::text[],
      ${sorted.map(({ count }) => count)}::bigint[],
      ${sorted.map(({ total }) => total ?? 0)}::double precision[],
      ${sorted.map(({ peak }) => peak ?? 0)}::double precision[])
    on conflict (minute, name) do update set count = service_minute.count + excluded.count,
      total = service_minute.total + excluded.total,
      peak = greatest(service_minute.peak, excluded.peak)`);
}

export async function writeStop(sql: Sql, id: string, now: number): Promise<void> {
  await runStatement(
    sql`update service_process set seen_at = ${now}, stopped_at = ${now} where id = ${id}`,
  );
}

/**
 * Forgets what is older than `before` (epoch ms), so that these tables stay small. The last report of
 * each kind of process stays: without it a kind that is missing would not be missed.
 */
export async function forgetReports(sql: Sql, before: number): Promise<void> {
  await runStatement(sql`
    with minutes as (delete from service_minute where minute < ${Math.floor(before / MINUTE_MS)}::int),
      sessions as (delete from operator_session where expires_at < ${before}::bigint)
    delete from service_process as old where seen_at < ${before}::bigint and exists (
      select from service_process as other where other.role = old.role and other.seen_at > old.seen_at)`);
}

export async function readDeltas(sql: Sql, since: number): Promise<readonly MinuteDelta[]> {
  return runStatement(sql<MinuteDelta[]>`
    select minute, name, count, total, peak from service_minute
    where minute >= ${Math.floor(since / MINUTE_MS)}::int order by minute, name`);
}

/** How many web processes have reported since an instant and not stopped. */
export async function webProcessesSince(sql: Sql, since: number): Promise<number> {
  const [row] = await runStatement(sql<[{ count: number }]>`
    select count(*) from service_process
    where role = 'web' and stopped_at is null and seen_at >= ${since}::bigint`);
  return row.count;
}

/** The processes that reported since an instant, those at work first. */
export async function readProcesses(sql: Sql, since: number): Promise<readonly KnownProcess[]> {
  return runStatement(sql<KnownProcess[]>`
    select id, role, version, host, pid, started_at as "startedAt", seen_at as "seenAt",
      stopped_at as "stoppedAt", report
    from service_process where seen_at >= ${since}::bigint
    order by stopped_at is not null, role, host, started_at`);
}

/** How many stars the web processes accepted since an instant, as far as it was counted. */
export async function acceptedSince(sql: Sql, since: number): Promise<number> {
  const [row] = await runStatement(sql<[{ count: number }]>`
    select coalesce(sum(count), 0)::bigint as count from service_minute
    where minute >= ${Math.floor(since / MINUTE_MS)}::int and starts_with(name, 'accepted ')`);
  return row.count;
}
