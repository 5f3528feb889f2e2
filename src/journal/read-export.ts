import { type Day, instant } from "../../actors/day.ts";
import { pageByPage } from "../store/page-by-page.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import {
  type PublicationRow,
  publicationColumns,
  publicationOf,
} from "../store/publication-state.ts";
import type { CountedStarRow, Serials } from "./counted-star.ts";
import type { ExportRelease, ExportStar } from "./export-format.ts";
import { walletOf } from "./star-record.ts";

/** Stars of one read … */
const STARS_PER_PAGE = 250;
/** … and the NFTs they may bring together, so that a page of great holders is no larger. */
const SERIALS_PER_PAGE = 50_000;
const RELEASES_PER_PAGE = 250;
/** A page takes milliseconds; one that waits for a busy server may take its time. */
const PAGE_WITHIN_MS = 10_000;

interface StarRow extends CountedStarRow, PublicationRow, Pick<ExportStar, "topic" | "message"> {
  readonly seq: number;
  readonly slot: number;
  readonly allowance_limit: 5 | 20;
  readonly season_id: string | null;
  readonly target_type: ExportStar["target"]["type"];
  readonly target_id: string;
  readonly is_forever_mint: boolean;
  readonly mint_order: number | null;
  readonly voting_power: number;
  readonly holdings_read_at: number;
}

/** The stars of a day by their number in the journal, page by page. */
export function starsOfDay(
  sql: Sql,
  day: Day,
): AsyncGenerator<readonly ExportStar[], void, undefined> {
  return pageByPage(
    (last?: StarRow) => runStatement(starPage(sql, day, last?.seq ?? 0), PAGE_WITHIN_MS),
    exportedStar,
  );
}

/** Each look-up is by key: no plan goes bad, also where the tables' sizes are estimated wrongly. */
function starPage(sql: Sql, day: Day, after: number) {
  return sql<StarRow[]>`
    select page.*, mint.seq as mint_order, box.*
    from (
      select *, sum(cardinality(held_a) + cardinality(held_b)) over (order by seq)
        - cardinality(held_a) - cardinality(held_b) as serials_before
      from (
        select seq, id, day, wallet, at, slot, allowance_limit, season_id, target_type, target_id,
          is_forever_mint, rules, voting_power, weight, base, counted_a, bonus_b, claimed_a, claimed_b,
          held_a, held_b, holdings_read_at
        from star where day = ${day} and seq > ${after} order by seq limit ${STARS_PER_PAGE}
      ) next
    ) page
    cross join lateral (
      select topic, message, ${publicationColumns(sql)} from outbox where star_id = page.id limit 1
    ) box
    left join lateral (
      select seq from mint_star where day = page.day and star_id = page.id and page.is_forever_mint limit 1
    ) mint on true
    where serials_before <= ${SERIALS_PER_PAGE}
    order by page.seq`;
}

function exportedStar(row: StarRow): ExportStar {
  const isEvent = row.target_type === "event";
  return {
    kind: "star",
    seq: row.seq,
    id: row.id,
    wallet: walletOf(row.wallet),
    at: instant(row.at),
    slot: row.slot,
    limit: row.allowance_limit,
    seasonId: row.season_id,
    rules: row.rules,
    target: {
      type: row.target_type,
      id: row.target_id,
      eventType: isEvent ? (JSON.parse(row.message).event_type ?? null) : null,
    },
    scope: isEvent ? (row.is_forever_mint ? "forever-mint" : "event-day") : "none",
    mintOrder: row.mint_order,
    votingPower: row.voting_power,
    weight: row.weight,
    breakdown: { base: row.base, collectionA: row.counted_a, collectionB: row.bonus_b },
    counted: isEvent ? { collectionA: rising(row.claimed_a), collectionB: row.claimed_b } : null,
    held: {
      collectionA: rising(row.held_a),
      collectionB: rising(row.held_b),
      readAt: instant(row.holdings_read_at),
    },
    topic: row.topic,
    message: row.message,
    publication: publicationOf(row),
  };
}

interface ReleaseRow extends Omit<ExportRelease, "heldB" | "listedAt" | "readAt" | "releasedAt"> {
  readonly heldB: Serials;
  readonly listedAt: number;
  readonly readAt: number;
  readonly releasedAt: number;
}

/**
 * The attributions that ended on a day, in the order of `mintOrder`; page by page, as above. Keys in
 * the order of the format.
 */
export function releasesOfDay(
  sql: Sql,
  day: Day,
): AsyncGenerator<readonly ExportRelease[], void, undefined> {
  return pageByPage(
    (last?: ReleaseRow) => {
      const { mintOrder = 0, collection = "A", serial = 0 } = last ?? {};
      return runStatement(
        sql<ReleaseRow[]>`
          select 'release' as kind, event_id as mint, seq as "mintOrder", run_id as "runId",
            run.day as "checkDay", collection, serial, '0.0.' || wallet as wallet, star_id as "starId",
            weight, spare, held_b as "heldB", owner, deleted, listed_at as "listedAt",
            read_at as "readAt", released_at as "releasedAt"
          from claim_release join holdings_check_run run on run.id = run_id
          where utc_day(released_at) = ${day}
            and (seq, collection, serial) > (${mintOrder}, ${collection}, ${serial})
          order by seq, collection, serial limit ${RELEASES_PER_PAGE}`,
        PAGE_WITHIN_MS,
      );
    },
    (row) => ({
      ...row,
      heldB: rising(row.heldB),
      listedAt: instant(row.listedAt),
      readAt: instant(row.readAt),
      releasedAt: instant(row.releasedAt),
    }),
  );
}

function rising(serials: Serials): number[] {
  return serials.map(Number).sort((one, other) => one - other);
}
