import postgres from "postgres";
import { bounds } from "../config.ts";
import { RetryableError } from "../errors.ts";
import { inTime as settleInTime } from "../in-time.ts";
import { keepQueuesShort } from "./short-queues.ts";

/** A pool of connections; bigints arrive as numbers, dates as `YYYY-MM-DD` text. */
export type Sql = postgres.Sql<{ bigint: number; date: string }>;

const IDLE_SECONDS = 60;
const INT8 = 20;
const DATE = 1082;

/** How a pool differs from the plain one. */
export interface PoolOptions {
  readonly connections?: number;
  /** Role to work as; the login's own when absent. */
  readonly role?: string | undefined;
  /** The writer never scans: plans made on an empty table cost ten times more later. */
  readonly writer?: boolean;
  /** Looks everything up by key, as the writer does, whatever it believes of the tables' sizes. */
  readonly byKey?: boolean;
  readonly statementTimeoutMs?: number;
  /** Hears that a connection ended: the next one may lead to another server (a failover). */
  readonly onClose?: () => void;
  /** Hears what statements say while they run. */
  readonly onNotice?: (message: string) => void;
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
    // The writer's connections end only when something ends them: its actors hear of that.
    ...(options.writer ? { max_lifetime: null } : { idle_timeout: IDLE_SECONDS }),
    onclose: () => options.onClose?.(),
    onnotice: ({ message = "" }) => options.onNotice?.(message),
    types: {
      // Every bigint of ours (instants, serials, account numbers) stays far below 2^53.
      bigint: { to: INT8, from: [INT8], serialize: String, parse: safeInteger },
      // Text, not Date: a Date would bend the day by the machine's time zone.
      date: { to: DATE, from: [DATE], serialize: String, parse: String },
    },
    connection: {
      application_name: "starboard",
      statement_timeout: options.statementTimeoutMs ?? bounds.statementTimeoutMs,
      // A scan that cannot be avoided though scans are off looks immensely dear to Postgres 17 and
      // before, dear enough to be compiled: that made 1.4 s of the millisecond a star takes.
      jit: "off",
      ...(options.role === undefined ? {} : { role: options.role }),
      ...(options.writer || options.byKey ? { enable_seqscan: "off" } : {}),
      ...(options.writer ? { lock_timeout: bounds.statementTimeoutMs } : {}),
    },
  });
  return keepQueuesShort(pool);
}

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} is not a safe integer`);
  return value;
}

/**
 * Whether the app's restricted role is there for this login (see `migrations/005`).
 *
 * @returns its name, or undefined where only the append-only triggers guard the journal
 */
export async function appRole(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ usable: boolean }[]>`
    select exists (
      select from pg_roles where rolname = 'starboard_app' and pg_has_role(session_user, oid, 'member')
    ) as usable`;
  return row?.usable ? "starboard_app" : undefined;
}

/** Postgres' clock, epoch milliseconds. */
export async function readDatabaseClock(sql: Sql): Promise<number> {
  const [row] = await inTime(sql<{ now: number }[]>`select now_ms() as now`);
  if (row === undefined) throw new RetryableError("UNAVAILABLE", "the database told no time");
  return row.now;
}

/**
 * Waits for a query, but not for ever: postgres.js has no deadline of its own, and a
 * stopped server leaves a query pending without end.
 *
 * @throws RetryableError `UNAVAILABLE` when time is up or the database is out of reach;
 *   any other error of the statement as it is
 */
export async function inTime<T>(
  query: PromiseLike<T>,
  deadlineMs: number = bounds.statementDeadlineMs,
): Promise<T> {
  try {
    return await settleInTime(
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

/** postgres.js' connection errors, the system's, and the SQLSTATE classes of a server in trouble. */
const OUTAGE = new RegExp(
  "^(CONNECTION_|CONNECT_TIMEOUT|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|EHOST|ENETUNREACH|ETIMEDOUT|" +
    "08...|53...|57...|58...|40001|40P01|55P03|25006|SB408)",
);

/** Whether an error says that the database is away or overloaded, rather than that the statement is wrong. */
export function isOutage(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && OUTAGE.test(code);
}
