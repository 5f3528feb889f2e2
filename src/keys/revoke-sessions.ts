import { entityNumber } from "../ledger/entity-id.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

/**
 * Ends all voting sessions of a wallet, at once and in every process.
 *
 * @param wallet canonical `0.0.n`
 * @returns how many there were
 */
export async function revokeSessions(sql: Sql, wallet: string): Promise<number> {
  const { count } = await runStatement(
    sql`delete from session where wallet = ${entityNumber(wallet)}`,
  );
  return count;
}
