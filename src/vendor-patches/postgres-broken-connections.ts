/** A statement of postgres.js, as far as this changes it. */
interface Statement {
  /** Gives the statement to one of the pool's connections. */
  handler: (statement: unknown) => unknown;
  /** Called with the rows; those of a statement that was run name its command. */
  resolve: (rows: unknown[]) => void;
  reject: (error: unknown) => void;
}

/**
 * In postgres.js 3.4.9 (`src/connection.js`) a connection that was reset still counts as open between
 * its error and its end, and forgets nothing until it stands again. A statement that it takes in
 * between is never sent. Where it was idle, the statement then is answered with no rows, as if
 * there were none. Where it was at work, the statement is awaited by the next connection in its place,
 * which runs nothing from then on: a pool so lost a connection with each reset, until all were gone.
 *
 * So after a failure that is not Postgres' own, the pool gives its connections nothing until those
 * that are broken have ended. An answer without a command is a failure.
 *
 * @returns changes each statement of one pool
 */
export function avoidBrokenConnections(): (statement: Statement) => void {
  let ending: Promise<void> | undefined;
  const pause = async (): Promise<void> => {
    await nextRound();
    ending = undefined;
  };
  return (statement) => {
    const { handler, resolve, reject } = statement;
    statement.handler = (given) =>
      ending === undefined ? handler(given) : ending.then(() => handler(given));
    statement.resolve = (rows) => (wasRun(rows) ? resolve(rows) : reject(neverSent()));
    statement.reject = (error) => {
      if (!isOfPostgres(error)) ending ??= pause();
      reject(error);
    };
  };
}

/** The event loop ends what is broken after the first of these and before the second. */
async function nextRound(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}

function wasRun(rows: object): boolean {
  return !("command" in rows) || rows.command !== null;
}

function isOfPostgres(error: unknown): boolean {
  return error instanceof Error && error.name === "PostgresError";
}

function neverSent(): Error {
  const error = new Error("the connection broke before the statement was sent");
  return Object.assign(error, { code: "CONNECTION_CLOSED" });
}
