/** A statement of postgres.js, as far as this changes it. */
interface Statement {
  resolve: (rows: unknown[]) => void;
}

/**
 * postgres.js 3.4.9 (`src/connection.js`, porsager/postgres issue 1181) counts the rows of a
 * connection's statement, and starts again from 0 where a statement is done, but not where it
 * fails. After one that fails with rows on their way, as at its timeout, the next one on that
 * connection has as many empty places before its own rows. These places are taken out.
 */
export function keepRowsInPlace(statement: Statement): void {
  const { resolve } = statement;
  statement.resolve = (rows) => {
    const first = rows.findIndex((_, place) => place in rows);
    if (first > 0) rows.splice(0, first);
    resolve(rows);
  };
}
