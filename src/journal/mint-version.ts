import { runStatement, type Sql } from "../store/postgres.ts";

/** Enough to see whether a copy of a mint is up to date. */
export interface MintVersion {
  readonly stars: number;
  readonly weight: number;
  /** How many releases there were: some change no weight. */
  readonly releases: number;
}

/** The version of a mint as it is now. */
export async function readMintVersion(sql: Sql, mint: string): Promise<MintVersion> {
  const [row] = await runStatement(
    sql<MintVersion[]>`select stars, weight, releases from event_total where event_id = ${mint}`,
  );
  return row ?? { stars: 0, weight: 0, releases: 0 };
}
