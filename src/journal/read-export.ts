import { type Day, instant, withInstants } from "../../actors/day.ts";
import { type Pages, pageByPage } from "../store/page-by-page.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { publicationColumn } from "../store/publication-state.ts";
import { NIL_UUID } from "../uuid.ts";
import type { ExportConflict, ExportLost, ExportRelease, ExportStar } from "./export-format.ts";

/** Stars of one read … */
const STARS_PER_PAGE = 250;
/** … and the NFTs they may bring together, so that a page of great holders is no larger. */
const SERIALS_PER_PAGE = 50_000;
const RELEASES_PER_PAGE = 250;
const APART_PER_PAGE = 500;
/** A page takes milliseconds; one that waits for a busy server may take its time. */
const PAGE_WITHIN_MS = 10_000;

/** What an export tells, as its row has it: these instants as epoch milliseconds. */
type RowOf<Told, Instants extends keyof Told> = Omit<Told, Instants> &
  Readonly<Record<Instants, number>>;

type StarRow = Omit<RowOf<ExportStar, "at">, "held"> & {
  readonly held: RowOf<ExportStar["held"], "readAt">;
};

/** The stars of a day by their number in the journal, page by page. */
export function starsOfDay(sql: Sql, day: Day): Pages<ExportStar> {
  return pagesOf((last) => starPage(sql, day, last?.seq ?? 0), exportedStar);
}

function pagesOf<Row, Told>(
  page: (last: Row | undefined) => PromiseLike<readonly Row[]>,
  show: (row: Row) => Told,
): Pages<Told> {
  return pageByPage((last) => runStatement(page(last), PAGE_WITHIN_MS), show);
}

/**
 * Keys in the order of the format. Each look-up is by key: no plan goes bad, also where the tables'
 * sizes are estimated wrongly.
 */
function starPage(sql: Sql, day: Day, after: number) {
  return sql<StarRow[]>`
    select 'star' as kind, page.seq, id, '0.0.' || wallet as wallet, at, slot, allowance_limit as "limit",
      season_id as "seasonId", rules,
      json_build_object('type', target_type, 'id', target_id,
        'eventType', case when is_event then message::json->>'event_type' end) as target,
      case when is_forever_mint then 'forever-mint' when is_event then 'event-day' else 'none' end as scope,
      mint.seq as "mintOrder", voting_power as "votingPower", weight,
      json_build_object('base', base, 'collectionA', counted_a, 'collectionB', bonus_b) as breakdown,
      case when is_event then json_build_object('collectionA', claimed_a, 'collectionB', claimed_b) end
        as counted,
      json_build_object('collectionA', held_a, 'collectionB', held_b, 'readAt', holdings_read_at) as held,
      topic, message, publication
    from (
      select *, sum(cardinality(held_a) + cardinality(held_b)) over (order by seq)
        - cardinality(held_a) - cardinality(held_b) as serials_before
      from (
        select *, target_type = 'event' as is_event
        from star where day = ${day} and seq > ${after} order by seq limit ${STARS_PER_PAGE}
      ) next
    ) page
    cross join lateral (
      select topic, message, ${publicationColumn(sql)} from outbox where star_id = page.id limit 1
    ) box
    left join lateral (
      select seq from mint_star where day = page.day and star_id = page.id and page.is_forever_mint limit 1
    ) mint on true
    where serials_before <= ${SERIALS_PER_PAGE}
    order by page.seq`;
}

function exportedStar(row: StarRow): ExportStar {
  const { counted, held } = row;
  return {
    ...row,
    at: instant(row.at),
    counted: counted && { ...counted, collectionA: rising(counted.collectionA) },
    held: {
      ...withInstants(held),
      collectionA: rising(held.collectionA),
      collectionB: rising(held.collectionB),
    },
  };
}

type ReleaseRow = RowOf<ExportRelease, "listedAt" | "readAt" | "releasedAt">;

/**
 * The attributions that ended on a day, in the order of `mintOrder`; page by page, as above. Keys in
 * the order of the format.
 */
export function releasesOfDay(sql: Sql, day: Day): Pages<ExportRelease> {
  return pagesOf(
    ({ mintOrder = 0, collection = "A", serial = 0 }: Partial<ReleaseRow> = {}) => sql<
      ReleaseRow[]
    >`
      select 'release' as kind, event_id as mint, seq as "mintOrder", run_id as "runId",
        run.day as "checkDay", collection, serial, '0.0.' || wallet as wallet, star_id as "starId",
        weight, spare, held_b as "heldB", owner, deleted, listed_at as "listedAt",
        read_at as "readAt", released_at as "releasedAt"
      from claim_release join holdings_check_run run on run.id = run_id
      where utc_day(released_at) = ${day}
        and (seq, collection, serial) > (${mintOrder}, ${collection}, ${serial})
      order by seq, collection, serial limit ${RELEASES_PER_PAGE}`,
    (row: ReleaseRow) => ({ ...withInstants(row), heldB: rising(row.heldB) }),
  );
}

type ConflictRow = RowOf<ExportConflict, "at">;
type LossRow = RowOf<ExportLost, "acceptedAt">;

/**
 * The stars of a day that break a rule beside stars which came back, by their ids, page by page. Keys
 * in the order of the format.
 */
export function conflictsOfDay(sql: Sql, day: Day): Pages<ExportConflict> {
  return pagesOf(
    (last?: ConflictRow) => sql<ConflictRow[]>`
      select 'conflict' as kind, id, '0.0.' || wallet as wallet, at,
        json_build_object('type', target_type, 'id', target_id) as target,
        conflicts_with as "conflictsWith", topic, message, ${publicationColumn(sql)}
      from star_conflict join outbox on star_id = id
      where day = ${day} and id > ${last?.id ?? NIL_UUID}::uuid
      order by id limit ${APART_PER_PAGE}`,
    (row) => ({ ...row, at: instant(row.at) }),
  );
}

/** Messages whose loss was accepted on a day, and whose stars have not come back; page by page. */
export function lossesOfDay(sql: Sql, day: Day): Pages<ExportLost> {
  return pagesOf(
    (last?: LossRow) => sql<LossRow[]>`
      select 'lost' as kind, topic_id as "topicId", sequence_number as "sequenceNumber",
        resolved_at as "acceptedAt"
      from publishing_finding finding
      where kind = 'lost' and resolved_at is not null and utc_day(resolved_at) = ${day}
        and not exists (select from outbox where outbox.topic_id = finding.topic_id
          and outbox.sequence_number = finding.sequence_number and state = 'published')
        and (topic_id, sequence_number) > (${last?.topicId ?? ""}, ${last?.sequenceNumber ?? 0})
      order by topic_id, sequence_number limit ${APART_PER_PAGE}`,
    withInstants,
  );
}

function rising(serials: readonly number[]): number[] {
  return serials.toSorted((one, other) => one - other);
}
