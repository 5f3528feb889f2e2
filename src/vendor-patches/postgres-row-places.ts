/** What a postgres.js statement is settled with. */
interface Statement {
  resolve: (rows: unknown[]) => void;
}

/**
 * postgres.js 3.4.9 (`src/connection.js`, porsager/postgres issue 1181) counts the rows of a
 * connection's statement, and starts again from 0 where a statement is done, but not where it
 * fails. After one that fails with rows on their way, as at its timeout, the next one on that
 * connection has as many empty places before its own rows. These places are taken out.
 *
 * @returns the pool, whose templates see to that
 */
export function keepRowsInPlace<Pool extends (...given: never[]) => unknown>(pool: Pool): Pool {
  return new Proxy(pool, {
    apply(target, self, args: Parameters<Pool>) {
      const made = Reflect.apply(target, self, args);
      if (isStatement(made)) {
        const { resolve } = made;
        made.resolve = (rows) => {
          const first = rows.findIndex((_, place) => place in rows);
          if (first > 0) rows.splice(0, first);
          resolve(rows);
        };
      }
      return made;
    },
  });
}

/** Names and lists are made by the same function as statements. */
function isStatement(made: unknown): made is Statement {
  return made instanceof Promise && "resolve" in made;
}
