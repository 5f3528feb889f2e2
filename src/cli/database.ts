import { type Sql, withPostgres } from "../store/postgres.ts";
import { readCommandSettings } from "./settings.ts";

/** A command works alone and may take its time: bulk work is not held to a request's deadline. */
const STATEMENT_TIMEOUT_MS = 120_000;

export interface CommandPool {
  /** The database, where it is not the one of `DATABASE_URL`. */
  readonly url?: string;
  readonly statementTimeoutMs?: number;
}

/**
 * Runs something with a small pool of connections, and closes the pool also where it throws.
 *
 * @throws ConfigurationError where no database is set; what `work` throws
 */
export function withDatabase<T>(
  work: (sql: Sql) => Promise<T>,
  { url = readCommandSettings(["DATABASE_URL"]).DATABASE_URL, ...pool }: CommandPool = {},
): Promise<T> {
  const statementTimeoutMs = STATEMENT_TIMEOUT_MS;
  return withPostgres(url, { connections: 2, statementTimeoutMs, ...pool }, work);
}
