import { avoidBrokenConnections } from "./postgres-broken-connections.ts";
import { keepQueuesShort } from "./postgres-connection-queues.ts";
import { keepRowsInPlace } from "./postgres-row-places.ts";

type Statement = Parameters<typeof keepQueuesShort>[0] &
  Parameters<typeof keepRowsInPlace>[0] &
  Parameters<ReturnType<typeof avoidBrokenConnections>>[0];

/** @returns the pool of postgres.js, with what each statement of its templates needs */
export function mendStatements<Pool extends (...given: never[]) => unknown>(pool: Pool): Pool {
  const avoidBroken = avoidBrokenConnections();
  return new Proxy(pool, {
    apply(target, self, args: Parameters<Pool>) {
      const made = Reflect.apply(target, self, args);
      if (isStatement(made)) {
        keepQueuesShort(made);
        keepRowsInPlace(made);
        avoidBroken(made);
      }
      return made;
    },
  });
}

/** Names and lists are made by the same function as statements. */
function isStatement(made: unknown): made is Statement {
  return made instanceof Promise && "options" in made && "resolve" in made;
}
