import { type Day, instant } from "../../actors/day.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { type PublicationRow, publicationOf } from "../store/publication-state.ts";
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

interface StarRow extends CountedStarRow, PublicationRow {
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
  readonly topic: "event" | "asset";
  readonly message: string;
}

/**
 * The stars of a day by their number in the journal, page by page, each page a statement of its
 * own: who reads slowly holds nothing up.
 *
 * @throws RetryableError `UNAVAILABLE` when Postgres is out of reach
 */
export async function* starsOfDay(sql: Sql, day: Day): AsyncGenerator<readonly ExportStar[]> {
  let after = 0;
  for (;;) {
    const rows = await runStatement(starPage(sql, day, after), PAGE_WITHIN_MS);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(exportedStar);
    after = last.seq;
  }
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
      select topic, message, state, topic_id, transaction_id, sequence_number, consensus_timestamp, running_hash
      from outbox where star_id = page.id limit 1
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

interface ReleaseRow {
  readonly event_id: string;
  readonly seq: number;
  readonly run_id: string;
  readonly check_day: Day;
  readonly collection: "A" | "B";
  readonly serial: number;
  readonly wallet: number;
  readonly star_id: string;
  readonly weight: number;
  readonly spare: number | null;
  readonly held_b: Serials;
  readonly owner: string | null;
  readonly deleted: boolean;
  readonly listed_at: number;
  readonly read_at: number;
  readonly released_at: number;
}

/** The attributions that ended on a day, in the order of `mintOrder`; page by page, as above. */
export async function* releasesOfDay(sql: Sql, day: Day): AsyncGenerator<readonly ExportRelease[]> {
  let after: Pick<ReleaseRow, "seq" | "collection" | "serial"> = {
    seq: 0,
    collection: "A",
    serial: 0,
  };
  for (;;) {
    const rows = await runStatement(
      sql<ReleaseRow[]>`
        select event_id, seq, run_id, run.day as check_day, collection, serial, wallet, star_id, weight,
          spare, held_b, owner, deleted, listed_at, read_at, released_at
        from claim_release join holdings_check_run run on run.id = run_id
        where utc_day(released_at) = ${day}
          and (seq, collection, serial) > (${after.seq}, ${after.collection}, ${after.serial})
        order by seq, collection, serial limit ${RELEASES_PER_PAGE}`,
      PAGE_WITHIN_MS,
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(exportedRelease);
    after = last;
  }
}

function exportedRelease(row: ReleaseRow): ExportRelease {
  return {
    kind: "release",
    mint: row.event_id,
    mintOrder: row.seq,
    runId: row.run_id,
    checkDay: row.check_day,
    collection: row.collection,
    serial: row.serial,
    wallet: walletOf(row.wallet),
    starId: row.star_id,
    weight: row.weight,
    spare: row.spare,
    heldB: rising(row.held_b),
    owner: row.owner,
    deleted: row.deleted,
    listedAt: instant(row.listed_at),
    readAt: instant(row.read_at),
    releasedAt: instant(row.released_at),
  };
}

function rising(serials: Serials): number[] {
  return serials.map(Number).sort((one, other) => one - other);
}
