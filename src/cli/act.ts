import { userInfo } from "node:os";
import { type Act, type ActEnd, actLogged } from "../store/logged-act.ts";
import type { Actor } from "../store/operator-log.ts";
import type { Sql } from "../store/postgres.ts";
import { type CommandPool, withDatabase } from "./database.ts";

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
export async function act<T>(
  { on, pool, ...about }: CommandAct,
  work: (sql: Sql) => Promise<T>,
  end?: (result: T) => Partial<ActEnd>,
): Promise<T> {
  if (on === undefined) return withDatabase((sql) => act({ ...about, on: sql }, work, end), pool);
  const { result } = await actLogged(on, { ...about, actor: commandActor() }, async () => {
    const result = await work(on);
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
