import type { Sql } from "../../../src/store/postgres.ts";

/** The lines of the operator log about an action, newest first: phase, who, about what, how it ended. */
export async function logOf(
  sql: Sql,
  action: string,
): Promise<
  { phase: string; operator: string; subject: string; notice: string; details: object }[]
> {
  return sql`
    select phase, operator, subject, notice, details from operator_log
    where action = ${action} order by id desc limit 4`;
}
