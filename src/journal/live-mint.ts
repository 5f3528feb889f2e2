import type { ForeverMintState } from "../../actors/forever-mint.ts";
import { letOthersIn } from "../let-others-in.ts";
import { inTime, type Sql } from "../store/postgres.ts";
import type { Attribution, MintAttributions } from "./fold-mint.ts";

/** Claims of one row: few enough to be taken up by a process that serves voters. */
const PIECE = 5_000;
/** Longer than any pool's own limit of a statement, which is what counts: 200,000 claims take 0.2 s. */
const WHOLE_WITHIN_MS = 20_000;

type Collection = "base" | "A" | "B";

interface Head {
  readonly weight: number;
  readonly stars: number;
  /** The last place of the history that the claims are as of; 0 before the first. */
  readonly seq: number;
}

/** Serials and what is said of each, made by Postgres: rows cost the reader several times as much. */
interface Piece {
  readonly collection: Collection;
  readonly claims: Readonly<Record<string, string>> | null;
}

interface Reading {
  /** What Postgres is to say of each claim, in SQL: a text. */
  readonly tell: string;
  readonly take: (collection: Collection, claims: Readonly<Record<string, string>>) => void;
}

/** The projection with the star each claim came by, and the place in the history it is as of. */
export async function readLiveMint(
  sql: Sql,
  mint: string,
): Promise<{ readonly upTo: number; readonly live: MintAttributions }> {
  const attributions = new Map<string, Attribution>();
  const { weight, stars, seq } = await readWhole(sql, mint, {
    tell: "'0.0.' || wallet || ' ' || star_id",
    take(collection, claims) {
      for (const serial in claims) {
        const [wallet = "", starId = ""] = claims[serial]?.split(" ") ?? [];
        attributions.set(`${collection}/${serial}`, { wallet, starId });
      }
    },
  });
  return { upTo: seq, live: { weight, stars, attributions } };
}

/**
 * A forever mint as its live claims make it, whole, to be looked at.
 *
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export async function readMintNow(sql: Sql, mint: string): Promise<ForeverMintState> {
  const wallets: Record<string, true> = {};
  const counted = { A: {} as Record<number, string>, B: {} as Record<number, string> };
  const { weight, stars } = await readWhole(sql, mint, {
    tell: "'0.0.' || wallet",
    take(collection, claims) {
      if (collection !== "base") Object.assign(counted[collection], claims);
      else for (const wallet of Object.values(claims)) wallets[wallet] = true;
    },
  });
  const value = stars === 0 ? "empty" : "collecting";
  return { value, context: { event: mint, weight, stars, wallets, counted } };
}

/**
 * Hands over all live claims, piece by piece, as of one commit: one statement, so nobody is held
 * up. A transaction of several would see one moment too, but postgres.js 3.4.9 ends the process
 * when a connection is lost inside one.
 */
async function readWhole(sql: Sql, mint: string, { tell, take }: Reading): Promise<Head> {
  const pieces = await inTime(
    sql<(Head & Piece)[]>`
      select coalesce(total.weight, 0) as weight, coalesce(total.stars, 0) as stars,
        greatest((select max(seq) from mint_star where event_id = ${mint}),
          (select max(seq) from claim_release where event_id = ${mint}), 0) as seq,
        piece.collection, piece.claims
      from (select 1) as one
      left join event_total as total on total.event_id = ${mint}
      left join lateral (
        select collection, json_object_agg(serial, ${sql.unsafe(tell)}) as claims
        from (
          select collection, serial, wallet, star_id,
            (row_number() over (partition by collection order by serial) - 1) / ${PIECE}::int as place
          from serial_claim where event_id = ${mint} and day is null and released_at is null
        ) as claim
        group by collection, place order by collection, place
      ) as piece on true`,
    WHOLE_WITHIN_MS,
  );
  for (const { collection, claims } of pieces) {
    if (claims === null) continue;
    take(collection, claims);
    await letOthersIn();
  }
  const [head] = pieces;
  return head ?? { weight: 0, stars: 0, seq: 0 };
}
