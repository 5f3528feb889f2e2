import { inTime, type Sql } from "../store/postgres.ts";

/** Enough to tell whether a copy of a mint is up to date. */
export interface MintStamp {
  readonly stars: number;
  readonly weight: number;
  /** Place in the history of the last release, 0 before the first: some change no weight. */
  readonly release: number;
}

/** The stamp of a mint as it is now. */
export async function readMintStamp(sql: Sql, mint: string): Promise<MintStamp> {
  const [row] = await inTime(
    sql<MintStamp[]>`
      select coalesce(max(stars), 0) as stars, coalesce(max(weight), 0) as weight,
        coalesce((select max(seq) from claim_release where event_id = ${mint}), 0) as release
      from event_total where event_id = ${mint}`,
  );
  return row ?? { stars: 0, weight: 0, release: 0 };
}
