import type { ForeverMintState } from "../../actors/forever-mint.ts";
import { inTime, type Sql } from "../store/postgres.ts";

/** Some 150 ms for 100,000 wallets; whoever asks for that much may wait for it. */
const DEADLINE_MS = 10_000;

interface Row {
  readonly weight: number;
  readonly stars: number;
  readonly wallets: Record<string, true>;
  readonly a: Record<number, string>;
  readonly b: Record<number, string>;
}

/**
 * A forever mint as its live claims make it, whole, to be looked at. Postgres makes the maps: as
 * rows, one for each of 100,000 wallets and NFTs, they cost the reader several times as much.
 *
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export async function readMintNow(sql: Sql, mint: string): Promise<ForeverMintState> {
  const [row] = await inTime(
    sql<Row[]>`
      select coalesce((select weight from event_total where event_id = ${mint}), 0) as weight,
        coalesce((select stars from event_total where event_id = ${mint}), 0) as stars,
        coalesce(json_object_agg('0.0.' || wallet, true) filter (where collection = 'base'), '{}') as wallets,
        coalesce(json_object_agg(serial, '0.0.' || wallet) filter (where collection = 'A'), '{}') as a,
        coalesce(json_object_agg(serial, '0.0.' || wallet) filter (where collection = 'B'), '{}') as b
      from serial_claim where event_id = ${mint} and day is null and released_at is null`,
    DEADLINE_MS,
  );
  if (row === undefined) throw new Error("an aggregate without a row");
  const { weight, stars, wallets, a, b } = row;
  const value = stars === 0 ? "empty" : "collecting";
  return { value, context: { event: mint, weight, stars, wallets, counted: { A: a, B: b } } };
}
