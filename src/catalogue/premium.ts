import { TerminalError } from "../errors.ts";
import { entityNumber, isEntityId } from "../ledger/entity-id.ts";
import { runLong, runStatement, type Sql } from "../store/postgres.ts";
import { UUID } from "../uuid.ts";

/** A paid pass: 20 votes a day while its season is on. */
export interface Pass {
  /** Canonical `0.0.n`. */
  readonly wallet: string;
  readonly seasonId: string;
  readonly grantedAt: number;
}

export type PassName = Omit<Pass, "grantedAt">;

/**
 * Grants a pass; granting it again changes nothing. It counts from the next star on, in every
 * process.
 *
 * @throws TerminalError `INVALID_REQUEST` for a bad wallet, `NOT_FOUND` for an unknown season
 */
export async function grantPass(sql: Sql, name: PassName): Promise<Pass> {
  const { number, seasonId } = read(name);
  // A row that stands is set to itself, because `do nothing` would not return it.
  const [row] = await runStatement(sql<Pass[]>`
    insert into premium_pass (wallet, season_id, granted_at)
    select ${number}, id, now_ms() from season where id = ${seasonId}
    on conflict (wallet, season_id) do update set granted_at = premium_pass.granted_at
    returning ${columns(sql)}`);
  if (row === undefined) throw new TerminalError("NOT_FOUND", "no season has this id");
  return row;
}

/**
 * Takes a pass back, from the next star on; stars cast under it stand.
 *
 * @throws TerminalError `INVALID_REQUEST` for a bad wallet, `NOT_FOUND` where there is none
 */
export async function revokePass(sql: Sql, name: PassName): Promise<Pass> {
  const { number, seasonId } = read(name);
  const [row] = await runStatement(sql<Pass[]>`
    delete from premium_pass where wallet = ${number} and season_id = ${seasonId}
    returning ${columns(sql)}`);
  if (row === undefined) throw new TerminalError("NOT_FOUND", "this wallet has no pass for it");
  return row;
}

/** All passes, by season and wallet. There may be as many as wallets, so this may take long. */
export async function listPasses(sql: Sql): Promise<readonly Pass[]> {
  return await runLong(sql<Pass[]>`
    select ${columns(sql)} from premium_pass join season on season.id = season_id
    order by starts_at, wallet`);
}

function columns(sql: Sql) {
  return sql`'0.0.' || wallet as wallet, season_id as "seasonId", granted_at as "grantedAt"`;
}

function read({ wallet, seasonId }: PassName): { number: number; seasonId: string } {
  if (!isEntityId(wallet)) {
    throw new TerminalError("INVALID_REQUEST", `${wallet} is no account id such as 0.0.1001`);
  }
  if (!UUID.test(seasonId)) throw new TerminalError("NOT_FOUND", "no season has this id");
  return { number: entityNumber(wallet), seasonId };
}
