import type { Standing } from "../../actors/mint-wallet.ts";
import { type EventTables, emptyTables } from "../../actors/whole.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { yieldToEventLoop } from "../yield-to-event-loop.ts";
import { endOfMint, lastOfMint } from "./mint-history.ts";
import { instantOfStarId } from "./star-id.ts";

/** Claims of one row: few enough to be taken up by a process that serves voters. */
const PIECE = 5_000;
/** Longer than any pool's own limit of a statement, which is what counts: 200,000 claims take 0.2 s. */
const WHOLE_WITHIN_MS = 20_000;

interface Head {
  readonly weight: number;
  readonly stars: number;
  /** The last position of the history that the claims are as of; 0 before the first. */
  readonly seq: number;
  readonly last: string;
}

/** Entries made by Postgres: rows cost the reader several times as much. */
interface Piece {
  readonly collection: "A" | "B" | "wallets";
  /** By serial: wallet and star. By wallet: standing and the day of its last vote. */
  readonly entries: Readonly<Record<string, string>> | null;
}

/**
 * Reads the live claims of a forever mint, piece by piece, as of one commit: one statement, which
 * holds no voter up. A transaction of several would see one moment too, but postgres.js 3.4.9 ends
 * the process when a connection is lost inside one.
 *
 * @returns the mint, the position in its history that it is as of, and what the history ends with
 *   there (`lastOfMint`)
 */
export async function readLiveMint(sql: Sql, mint: string) {
  const pieces = await runStatement(
    sql<(Head & Piece)[]>`
      with entry as (
        select collection, serial::text as key, '0.0.' || wallet || ' ' || star_id as value
        from serial_claim
        where event_id = ${mint} and day is null and released_at is null and collection in ('A', 'B')
        union all
        select 'wallets', '0.0.' || base.wallet,
          case when carrier.wallet is null then 'counted ' else 'carrying ' end || coalesce(voted.day::text, '')
        from serial_claim as base
        left join serial_claim as carrier on carrier.event_id = base.event_id
          and carrier.wallet = base.wallet and carrier.day is null and carrier.released_at is null
          and carrier.collection = 'B'
        left join lateral (
          select day from mint_star where mint_star.event_id = base.event_id
            and mint_star.wallet = base.wallet order by seq desc limit 1
        ) as voted on true
        where base.event_id = ${mint} and base.day is null and base.released_at is null
          and base.collection = 'base'
      )
      select coalesce(total.weight, 0) as weight, coalesce(total.stars, 0) as stars,
        ${endOfMint(sql, mint)} as seq, ${lastOfMint(sql, mint)} as last,
        piece.collection, piece.entries
      from (select 1) as one
      left join event_total as total on total.event_id = ${mint}
      left join lateral (
        select collection, json_object_agg(key, value) as entries
        from (
          select collection, key, value,
            (row_number() over (partition by collection order by length(key), key) - 1) / ${PIECE}::int as place
          from entry
        ) as entry
        group by collection, place order by collection, place
      ) as piece on true`,
    WHOLE_WITHIN_MS,
  );
  const live = emptyTables();
  for (const piece of pieces) {
    takeIn(live, piece);
    await yieldToEventLoop();
  }
  const [head] = pieces;
  if (head === undefined) return { upTo: 0, last: "", live };
  live.weight = head.weight;
  live.stars = head.stars;
  return { upTo: head.seq, last: head.last, live };
}

function takeIn(live: EventTables, { collection, entries }: Piece): void {
  for (const [key, value] of Object.entries(entries ?? {})) {
    const [first = "", second = ""] = value.split(" ");
    if (collection === "wallets") {
      live.wallets.set(key, { value: first as Standing, context: { votedOn: second } });
    } else {
      const at = instantOfStarId(second);
      live[collection].set(Number(key), { wallet: first, starId: second, at });
    }
  }
}
