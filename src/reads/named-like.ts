import type { Sql } from "../store/postgres.ts";
import type { Fragment } from "./star-windows.ts";

/** A condition: a name has this part, in any case; always true where no part is asked for. */
export function namedLike(sql: Sql, part: string | undefined, name: Fragment): Fragment {
  return part === undefined ? sql`true` : sql`strpos(lower(${name}), lower(${part}::text)) > 0`;
}
