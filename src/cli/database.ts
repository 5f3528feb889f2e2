import { userInfo } from "node:os";
import { type Act, type ActEnd, type Actor, actLogged } from "../store/operator-log.ts";
import { type Sql, withPostgres } from "../store/postgres.ts";
import { readCommandSettings } from "./settings.ts";

/** A command works alone and may take its time: bulk work is not held to a request's deadline. */
const STATEMENT_TIMEOUT_MS = 120_000;

interface CommandPool {
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

/** An act of the command line, as the operator log names it. */
interface CommandAct extends Omit<Act, "actor"> {
  /** Where the command has opened the database for more than this. */
  readonly on?: Sql;
  /** Else how it is opened. */
  readonly pool?: CommandPool;
}

/**
 * Does something on the database of a command, with its lines in the operator log.
 *
 * @param end says how it ended; the log's sentence where it needs one
 * @throws what `work` throws
 */
export function act<T>(
  { on, pool, ...about }: CommandAct,
  work: (sql: Sql) => Promise<T>,
  end?: (result: T) => Partial<ActEnd>,
): Promise<T> {
  const run = async (sql: Sql): Promise<T> => {
    const { result } = await actLogged(sql, { ...about, actor: commandActor() }, async () => {
      const result = await work(sql);
      return { notice: "", ...end?.(result), result };
    });
    return result;
  };
  return on === undefined ? withDatabase(run, pool) : run(on);
}

/** The login that runs the command; a container's user may have no name. */
function commandActor(): Actor {
  const origin = { sessionId: null, origin: "command" };
  try {
    return { operator: userInfo().username, ...origin };
  } catch {
    return { operator: `uid ${process.getuid?.() ?? "unknown"}`, ...origin };
  }
}
