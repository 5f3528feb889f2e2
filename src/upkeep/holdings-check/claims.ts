import { claimColumns, CLAIMS_PER_PAGE as PAGE } from "../../journal/live-claims.ts";
import type { Collection, LiveClaim } from "../../journal/mint-end.ts";
import { type Pages, pageByPage } from "../../store/page-by-page.ts";
import { runStatement, type Sql } from "../../store/postgres.ts";

/** A forever mint, and of which collections any NFT counts on it. */
export interface CheckedMint {
  readonly id: string;
  readonly counts: readonly Collection[];
}

/** What of a mint a check has to look at. */
export interface Part {
  readonly collection: Collection;
  /** One attribution, by the star that brought it; both null for the whole collection. */
  readonly serial: number | null;
  readonly starId: string | null;
}

/** A part left open, and why; nothing was removed there. */
export interface DeferredPart extends Part {
  readonly wallet: string | null;
  readonly reason: string;
}

export function deferClaim(claim: LiveClaim, reason: string): DeferredPart {
  const { collection, serial, starId, wallet } = claim;
  return { collection, serial, starId, wallet, reason };
}

/**
 * Every forever mint, approved or not, in the order of their ids. Each look-up goes in the order of
 * an index: Postgres would else read whole tables where it takes a match for likely.
 */
export async function listMints(sql: Sql): Promise<readonly CheckedMint[]> {
  return runStatement(sql<CheckedMint[]>`
    select mint.id, array(
      select collection from unnest('{A,B}'::text[]) as given (collection)
      where (select true from serial_claim
        where event_id = mint.id and serial_claim.collection = given.collection
          and day is null and released_at is null order by serial limit 1)
    ) as counts
    from (
      select id from event where is_forever_mint
      union
      -- What was starred as a forever mint stays one, even where its record says otherwise today.
      select event_id from event_total
      where (select true from mint_star where mint_star.event_id = event_total.event_id
        order by seq limit 1)
    ) mint
    order by mint.id`);
}

/** All claims of a collection on a mint, page by page, by serial. */
export function readClaims(
  sql: Sql,
  { mint, collection }: { readonly mint: string; readonly collection: Collection },
): Pages<LiveClaim> {
  return pageByPage(
    (last: LiveClaim | undefined) =>
      runStatement(sql<LiveClaim[]>`
        select ${claimColumns(sql)} from serial_claim
        where event_id = ${mint} and collection = ${collection} and serial > ${last?.serial ?? 0}
          and day is null and released_at is null
        order by serial limit ${PAGE}`),
    (claim) => claim,
  );
}
