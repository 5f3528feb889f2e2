import type { Sql } from "../store/postgres.ts";
import type { Fragment } from "./star-windows.ts";

/** A page of a list, or of those in it whose name has a part. */
export interface NamedQuery {
  readonly limit: number;
  readonly offset: number;
  /** Part of a name, or of a token's symbol, in any case. */
  readonly q?: string | undefined;
  /** The instant that the list is of, epoch milliseconds. */
  readonly now: number;
}

/** A condition: a name has this part, in any case; always true where no part is asked for. */
export function namedLike(sql: Sql, part: string | undefined, name: Fragment): Fragment {
  return part === undefined ? sql`true` : sql`strpos(lower(${name}), lower(${part}::text)) > 0`;
}
