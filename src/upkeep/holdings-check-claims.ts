import { walletOf } from "../journal/star-record.ts";
import { inTime, type Sql } from "../store/postgres.ts";
import type { Collection } from "./holdings-check-reading.ts";

/** An NFT that counts on a mint, attributed to a wallet. */
export interface LiveClaim {
  readonly collection: Collection;
  readonly serial: number;
  readonly wallet: string;
  /** The star that brought it. */
  readonly starId: string;
  /** Since when it counts, epoch ms. */
  readonly since: number;
}

/** A forever mint, and of which collections any NFT counts on it. */
export interface CheckedMint {
  readonly id: string;
  readonly counts: readonly Collection[];
}

/** What of a mint a check has to look at: all NFTs of a collection, or one attribution. */
export interface Part {
  readonly collection: Collection;
  /** Null for the whole collection. */
  readonly attribution: Attribution | null;
}

/** An attribution by what it can be found again by. */
export interface Attribution {
  readonly serial: number;
  readonly starId: string;
}

/** 2,000 claims are 100 KB: few round trips, and little held in memory. */
const PAGE = 2_000;

interface ClaimRow {
  readonly collection: Collection;
  readonly serial: number;
  readonly wallet: number;
  readonly star_id: string;
  readonly anchored_at: number | null;
}

/** Every forever mint, approved or not, in the order of their ids. */
export async function listMints(sql: Sql): Promise<readonly CheckedMint[]> {
  const rows = await inTime(
    sql<{ id: string; a: boolean; b: boolean }[]>`
      select mint.id, counts.a, counts.b
      from (
        select id from event where is_forever_mint
        union
        -- What was starred as a forever mint stays one, whatever its record says today.
        select event_id from event_total
        where (select true from mint_star where mint_star.event_id = event_total.event_id limit 1)
      ) mint
      cross join lateral (
        select
          (select true from serial_claim where event_id = mint.id and collection = 'A'
            and day is null and released_at is null limit 1) is true as a,
          (select true from serial_claim where event_id = mint.id and collection = 'B'
            and day is null and released_at is null limit 1) is true as b
      ) counts
      order by mint.id`,
  );
  return rows.map(({ id, a, b }) => ({
    id,
    counts: [...(a ? (["A"] as const) : []), ...(b ? (["B"] as const) : [])],
  }));
}

/**
 * The claims of a collection on a mint, page by page, by serial.
 *
 * @param only these attributions, as far as they still stand; all where null
 */
export async function* readClaims(
  sql: Sql,
  { mint, collection, only }: ClaimsAsked,
): AsyncGenerator<readonly LiveClaim[], void, undefined> {
  if (only === null) yield* readAll(sql, mint, collection);
  else yield* readSome(sql, { mint, collection, only });
}

export interface ClaimsAsked {
  readonly mint: string;
  readonly collection: Collection;
  readonly only: readonly Attribution[] | null;
}

async function* readAll(sql: Sql, mint: string, collection: Collection) {
  let after = 0;
  for (;;) {
    const rows = await inTime(
      sql<ClaimRow[]>`
        select collection, serial, wallet, star_id, anchored_at
        from serial_claim
        where event_id = ${mint} and collection = ${collection} and serial > ${after}
          and day is null and released_at is null
        order by serial limit ${PAGE}`,
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(claimOf);
    if (rows.length < PAGE) return;
    after = last.serial;
  }
}

async function* readSome(
  sql: Sql,
  { mint, collection, only }: ClaimsAsked & { readonly only: readonly Attribution[] },
) {
  for (let from = 0; from < only.length; from += PAGE) {
    const asked = only.slice(from, from + PAGE);
    const rows = await inTime(
      sql<ClaimRow[]>`
        select claim.*
        from unnest(${asked.map(({ serial }) => serial)}::bigint[],
          ${asked.map(({ starId }) => starId)}::uuid[]) as asked (serial, star_id)
        cross join lateral (
          select collection, serial, wallet, star_id, anchored_at from serial_claim
          where event_id = ${mint} and collection = ${collection} and serial = asked.serial
            and star_id = asked.star_id and day is null and released_at is null
          limit 1
        ) claim
        order by claim.serial`,
    );
    if (rows.length > 0) yield rows.map(claimOf);
  }
}

/** Of some collection B serials those that count on a mint, each with its wallet. */
export async function readCarriers(
  sql: Sql,
  mint: string,
  serials: readonly number[],
): Promise<Readonly<Record<number, string>>> {
  const rows = await inTime(
    sql<{ serial: number; wallet: number }[]>`
      select asked.serial, claim.wallet
      from unnest(${[...serials]}::bigint[]) as asked (serial)
      cross join lateral (
        select wallet from serial_claim
        where event_id = ${mint} and collection = 'B' and serial = asked.serial
          and day is null and released_at is null
        limit 1
      ) claim`,
  );
  return Object.fromEntries(rows.map(({ serial, wallet }) => [serial, walletOf(wallet)]));
}

function claimOf({ wallet, star_id, anchored_at, ...claim }: ClaimRow): LiveClaim {
  const since = anchored_at ?? instantOf(star_id);
  return { ...claim, wallet: walletOf(wallet), starId: star_id, since };
}

/** When a star was decided: the first 48 bits of its id, a UUIDv7. */
function instantOf(starId: string): number {
  return Number.parseInt(starId.slice(0, 8) + starId.slice(9, 13), 16);
}
