import { userInfo } from "node:os";
import { type Act, type ActEnd, actLogged } from "../store/logged-act.ts";
import type { Actor } from "../store/operator-log.ts";
import type { Sql } from "../store/postgres.ts";
import { type CommandPool, withDatabase } from "./database.ts";

/** An act of the command line, as the operator log names it. */
type CommandAct<T> = Omit<Act, "actor"> & {
  /** How it ended; the log's sentence where it needs one. */
  readonly end?: ((result: T) => Partial<Pick<ActEnd, "notice" | "details">>) | undefined;
  readonly pool?: CommandPool;
};

/**
 * Does something on the database of a command, with its lines in the operator log.
 *
 * @throws what `work` throws
 */
export async function act<T>(
  { end, pool, ...given }: CommandAct<T>,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  return withDatabase((sql) => actOn(sql, { ...given, end }, work), pool);
}

/** The same where the command has opened the database for more than this. */
export async function actOn<T>(
  sql: Sql,
  { end, ...given }: Omit<CommandAct<T>, "pool">,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const { result } = await actLogged(sql, { ...given, actor: commandActor() }, async () => {
    const result = await work(sql);
    return { notice: "", ...end?.(result), result };
  });
  return result;
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
