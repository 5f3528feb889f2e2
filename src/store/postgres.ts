import postgres from "postgres";
import { bounds } from "../bounds.ts";
import { RetryableError } from "../errors.ts";
import { openNoMore } from "../vendor-patches/postgres-ended-pools.ts";
import { mendStatements } from "../vendor-patches/postgres-statements.ts";
import { withDeadline } from "../with-deadline.ts";
import { ARRAY_TYPES, arrayType } from "./array-types.ts";

const IDLE_SECONDS = 60;
const INT8 = 20;
const INT8_ARRAY = 1016;
const DATE = 1082;

const TYPES = {
  // Every bigint of this schema (instants, serials, account numbers) stays far below 2^53.
  bigint: { to: INT8, from: [INT8], serialize: String, parse: safeInteger },
  bigints: arrayType(INT8_ARRAY, safeInteger),
  // Text, not Date: a Date would bend the day by the machine's time zone.
  date: { to: DATE, from: [DATE], serialize: String, parse: String },
  ...ARRAY_TYPES,
};

/** A pool of connections; bigints arrive as numbers, dates as `YYYY-MM-DD` text. */
export type Sql = postgres.Sql<{
  [Name in keyof typeof TYPES]: ReturnType<(typeof TYPES)[Name]["parse"]>;
}>;

export interface PoolOptions {
  readonly connections?: number;
  /** Role to work as; the login's own when absent. */
  readonly role?: string | undefined;
  /**
   * The writer's statements look everything up by key, so one plan serves them all: it never
   * scans, though the tables may be empty when the plan is made, and it plans each statement once
   * per connection. By its own estimate Postgres would plan an admission at each call, which takes four
   * times as long as running it.
   */
  readonly writer?: boolean;
  /** Looks everything up by key, as the writer does, without regard to the tables' sizes. */
  readonly byKey?: boolean;
  readonly statementTimeoutMs?: number;
  /** Called when a connection ended: the next one may lead to another server (a failover). */
  readonly onClose?: () => void;
}

/**
 * Opens a pool. Connections are made on first use, so this never fails by itself.
 *
 * @param url `postgres://…`
 */
export function openPostgres(url: string, options: PoolOptions = {}): Sql {
  const pool: Sql = postgres(url, {
    max: options.connections ?? bounds.postgresConnectionsMax,
    connect_timeout: 2,
    // The driver's own question about types ends the process where the connection breaks meanwhile.
    fetch_types: false,
    // The writer's connections end only when something ends them: then its actors are dropped.
    ...(options.writer ? { max_lifetime: null } : { idle_timeout: IDLE_SECONDS }),
    onclose: () => options.onClose?.(),
    onnotice: () => undefined,
    types: TYPES,
    connection: {
      application_name: "starboard",
      // A database or a login may have defaults of its own, and what is read must not change by them.
      DateStyle: "ISO",
      bytea_output: "hex",
      extra_float_digits: 1,
      statement_timeout: options.statementTimeoutMs ?? bounds.statementTimeoutMs,
      // With scans off, Postgres 17 and before give an unavoidable scan a very high cost, and
      // compile it because of that: a star then took 1.4 s instead of a millisecond.
      jit: "off",
      ...(options.role === undefined ? {} : { role: options.role }),
      ...(options.writer || options.byKey ? { enable_seqscan: "off" } : {}),
      ...(options.writer
        ? { lock_timeout: bounds.statementTimeoutMs, plan_cache_mode: "force_generic_plan" }
        : {}),
    },
  });
  return mendStatements(pool);
}

/** Runs something with a pool, and ends the pool also where it throws. */
export async function withPostgres<T>(
  url: string,
  options: PoolOptions,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const sql = openPostgres(url, options);
  try {
    return await work(sql);
  } finally {
    // At once: after `work` has failed its other statements may wait.
    openNoMore(sql);
    await sql.end({ timeout: 0 });
  }
}

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is not a safe integer`);
  return value;
}

/**
 * Whether the app's restricted role is there for this login, and has its rights (see the last file of
 * migrations/).
 *
 * @returns its name, or undefined where only the append-only triggers guard the journal
 */
export async function appRole(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<[{ usable: boolean }]>`
    select exists (
      select from pg_roles where rolname = 'starboard_app' and pg_has_role(session_user, oid, 'member')
        -- One that was made after the migrations has none.
        and has_table_privilege(oid, to_regclass('star'), 'select')
    ) as usable`;
  return row.usable ? "starboard_app" : undefined;
}

/**
 * Whether this login has the rights of the tables' owner: a statement that resets its role could
 * then change the journal.
 */
export async function ownsTables(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ owns: boolean }[]>`
    select pg_has_role(session_user, relowner, 'member') as owns
    from pg_class where oid = to_regclass('star')`;
  return row?.owns ?? false;
}

/** Postgres' clock, epoch milliseconds. */
export async function readDatabaseClock(sql: Sql): Promise<number> {
  const [row] = await runStatement(sql<[{ now: number }]>`select now_ms() as now`);
  return row.now;
}

/** Connections of this service's processes, and how many Postgres takes in all. */
export async function connectionUse(
  sql: Sql,
): Promise<{ readonly count: number; readonly max: number }> {
  // Their states are not shown to `starboard_app`: it is no member of the login that opened them.
  const [use] = await runStatement(sql<[{ count: number; max: number }]>`
    select count(*) as count, current_setting('max_connections')::int as max
    from pg_stat_activity
    where application_name = 'starboard' and datname = current_database()`);
  return use;
}

/**
 * Runs a statement with a deadline: postgres.js has none of its own, and a stopped server leaves
 * a query pending without end. What reads and writes by it throws the same, and does not say so again.
 *
 * @throws RetryableError `UNAVAILABLE` when time is up or the database is out of reach;
 *   any other error of the statement as it is
 */
export async function runStatement<T>(
  query: PromiseLike<T>,
  deadlineMs: number = bounds.statementDeadlineMs,
): Promise<T> {
  try {
    return await withDeadline(
      query,
      deadlineMs,
      () => new RetryableError("UNAVAILABLE", "the database did not answer in time"),
    );
  } catch (error) {
    throw isOutage(error)
      ? new RetryableError("UNAVAILABLE", "the database is out of reach", 1, error)
      : error;
  }
}

const FIRST_WITHIN_MS = 10_000;

/**
 * The same for what a start or a check asks of a server before anything depends on it: the first
 * statement of a connection takes as long as connecting does, and neither has anybody waiting.
 */
export function runFirst<T>(query: PromiseLike<T>): Promise<T> {
  return runStatement(query, FIRST_WITHIN_MS);
}

const LONG_WITHIN_MS = 60_000;

/**
 * The same for a statement with much to read or write and no voter waiting: pages of a
 * recovery or of a history, a directory of 100,000 records, a loss of as many messages. A busy
 * server may take its time; the pool given needs a statement_timeout as long.
 */
export function runLong<T>(query: PromiseLike<T>): Promise<T> {
  return runStatement(query, LONG_WITHIN_MS);
}

/**
 * SQLSTATEs that our own functions and triggers raise; the head of the first file of migrations/ says
 * when.
 */
export const RAISED = {
  senseless: "SB400",
  forbidden: "SB403",
  tooLate: "SB408",
  conflict: "SB409",
} as const;

/** postgres.js' connection errors, the system's, and the SQLSTATE classes of a server in trouble. */
const OUTAGE = new RegExp(
  "^(CONNECTION_|CONNECT_TIMEOUT|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|EHOST|ENETUNREACH|ETIMEDOUT|" +
    `08...|53...|57...|58...|40001|40P01|55P03|25006|${RAISED.tooLate})`,
);

const DISK_FULL = "53100";

/** Whether an error, or one that it was made of, says that the server's disk is full. */
export function isOutOfRoom(error: unknown): boolean {
  return error instanceof Error && (codeOf(error) === DISK_FULL || isOutOfRoom(error.cause));
}

/** Whether an error says that the database is away or overloaded, rather than that the statement is wrong. */
export function isOutage(error: unknown): boolean {
  return OUTAGE.test(codeOf(error));
}

/** The SQLSTATE of an error, or the code of a connection's; empty where it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
