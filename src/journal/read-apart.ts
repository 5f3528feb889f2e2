import { type Day, instant, withInstants } from "../../actors/day.ts";
import { pageByPage } from "../store/page-by-page.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { publicationColumn } from "../store/publication-state.ts";
import type { ExportConflict, ExportLost } from "./export-format.ts";
import { PAGE_WITHIN_MS, type RowOf } from "./read-export.ts";

/** Lines of one read. */
const PAGE = 500;

type ConflictRow = RowOf<ExportConflict, "at">;
type LossRow = RowOf<ExportLost, "acceptedAt">;

/**
 * The stars of a day that break a rule beside stars which came back, by their ids, page by page. Keys
 * in the order of the format, here and below.
 */
export function conflictsOfDay(
  sql: Sql,
  day: Day,
): AsyncGenerator<readonly ExportConflict[], void, undefined> {
  return pageByPage(
    (last?: ConflictRow) =>
      runStatement(
        sql<ConflictRow[]>`
          select 'conflict' as kind, id, '0.0.' || wallet as wallet, at,
            json_build_object('type', target_type, 'id', target_id) as target,
            conflicts_with as "conflictsWith", topic, message, ${publicationColumn(sql)}
          from star_conflict join outbox on star_id = id
          where day = ${day} and id > ${last?.id ?? "00000000-0000-0000-0000-000000000000"}::uuid
          order by id limit ${PAGE}`,
        PAGE_WITHIN_MS,
      ),
    (row) => ({ ...row, at: instant(row.at) }),
  );
}

/** Messages whose loss was accepted on a day, and whose stars have not come back; page by page. */
export function lossesOfDay(
  sql: Sql,
  day: Day,
): AsyncGenerator<readonly ExportLost[], void, undefined> {
  return pageByPage(
    (last?: LossRow) =>
      runStatement(
        sql<LossRow[]>`
          select 'lost' as kind, topic_id as "topicId", sequence_number as "sequenceNumber",
            resolved_at as "acceptedAt"
          from publishing_finding finding
          where kind = 'lost' and resolved_at is not null and utc_day(resolved_at) = ${day}
            and not exists (select from outbox where outbox.topic_id = finding.topic_id
              and outbox.sequence_number = finding.sequence_number and state = 'published')
            and (topic_id, sequence_number) > (${last?.topicId ?? ""}, ${last?.sequenceNumber ?? 0})
          order by topic_id, sequence_number limit ${PAGE}`,
        PAGE_WITHIN_MS,
      ),
    withInstants,
  );
}
