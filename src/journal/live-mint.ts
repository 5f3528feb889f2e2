import type { ForeverMintState } from "../../actors/forever-mint.ts";
import { letOthersIn } from "../let-others-in.ts";
import { inTime, type Sql } from "../store/postgres.ts";
import type { Attribution, MintAttributions } from "./fold-mint.ts";

/** Claims of one read: some 30 ms of Postgres, and few enough for a process that serves voters. */
const PAGE = 5_000;
/**
 * For all pages of a mint together: 200,000 claims take half a second, and both the mint and the
 * load may be several times as large. Each page has the pool's limit of a statement besides.
 */
const WHOLE_WITHIN_MS = 20_000;

type Collection = "base" | "A" | "B";
const COLLECTIONS: readonly Collection[] = ["base", "A", "B"];

interface Head {
  readonly weight: number;
  readonly stars: number;
  /** The last place of the history that the claims are as of; 0 before the first. */
  readonly seq: number;
}

/** Serials and what is said of each, made by Postgres: rows cost the reader several times as much. */
interface Page {
  readonly claims: Readonly<Record<string, string>> | null;
  readonly last: number;
  readonly count: number;
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
 * Hands over all live claims, page by page, as of one commit: the pages are read in one
 * transaction that sees no later one and holds nobody up.
 */
function readWhole(sql: Sql, mint: string, { tell, take }: Reading): Promise<Head> {
  const reading = sql.begin("isolation level repeatable read read only", async (snapshot) => {
    const [head] = await snapshot<Head[]>`
      select coalesce((select weight from event_total where event_id = ${mint}), 0) as weight,
        coalesce((select stars from event_total where event_id = ${mint}), 0) as stars,
        greatest((select max(seq) from mint_star where event_id = ${mint}),
          (select max(seq) from claim_release where event_id = ${mint}), 0) as seq`;
    for (const collection of COLLECTIONS) {
      let after = 0;
      for (;;) {
        const [page] = await snapshot<Page[]>`
          select json_object_agg(serial, ${snapshot.unsafe(tell)}) as claims,
            coalesce(max(serial), 0) as last, count(*) as count
          from (
            select serial, wallet, star_id from serial_claim
            where event_id = ${mint} and day is null and released_at is null
              and collection = ${collection} and serial > ${after}
            order by serial limit ${PAGE}
          ) as page`;
        if (page === undefined || page.claims === null) break;
        take(collection, page.claims);
        await letOthersIn();
        if (page.count < PAGE) break;
        after = page.last;
      }
    }
    return head ?? { weight: 0, stars: 0, seq: 0 };
  });
  return inTime(reading, WHOLE_WITHIN_MS);
}
