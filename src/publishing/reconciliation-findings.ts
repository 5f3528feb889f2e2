import { TerminalError } from "../errors.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

/** What can be wrong between outbox and topics; see `publishing_finding` in migrations/. */
export const FINDING_KINDS = [
  "missing",
  "duplicate",
  "lost",
  "foreign",
  "malformed",
  "wrong bytes",
  "wrong topic",
  "broken chain",
  "contradiction",
] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** Something wrong, written down once. */
export interface Finding {
  readonly id: number;
  readonly kind: FindingKind;
  /** Of the message; both null for a star that has none. */
  readonly topicId: string | null;
  readonly sequenceNumber: number | null;
  /** The star it is about; null when it is about none. */
  readonly starId: string | null;
  readonly detail: string;
  readonly noticedAt: number;
  /** When it ended by itself or an operator set it aside; null until then. */
  readonly resolvedAt: number | null;
}

/** Accepted stars are published in seconds; an outage of this length is one to write down. */
const MISSING_AFTER_MS = 10 * 60_000;
/** Open at the same time: after a long outage the first thousand say it all. */
const MISSING_MAX = 1_000;
/** A topic of a million messages takes 200 rounds of five seconds: 17 minutes. */
const PLACES_PER_ROUND = 5_000;

/**
 * One round of comparing outbox and topics: a window of each topic's places, and overdue stars.
 *
 * @param topicIds topics whose reading has started; any other has nothing to compare yet
 * @returns how many places were gone through
 */
export async function auditTopics(
  sql: Sql,
  topicIds: readonly string[],
  placesMax: number = PLACES_PER_ROUND,
): Promise<number> {
  let places = 0;
  for (const topicId of topicIds) {
    const [row] = await runStatement(sql<[{ places: number }]>`
      select audit_topic(${topicId}, ${placesMax}::integer) as places`);
    places += row.places;
  }
  await runStatement(
    sql`select note_missing_stars(now_ms() - ${MISSING_AFTER_MS}::bigint, ${MISSING_MAX})`,
  );
  return places;
}

/** How many of each kind are open; kinds without any are left out. */
export async function countFindings(sql: Sql): Promise<ReadonlyMap<FindingKind, number>> {
  const rows = await runStatement(sql<{ kind: FindingKind; open: number }[]>`
    select kind, count(*) as open from publishing_finding where resolved_at is null group by kind`);
  return new Map(rows.map(({ kind, open }) => [kind, open]));
}

/** When the oldest open finding was noticed, epoch milliseconds; null where none is open. */
export async function oldestOpenFinding(sql: Sql): Promise<number | null> {
  const [row] = await runStatement(sql<[{ at: number | null }]>`
    select min(noticed_at) as at from publishing_finding where resolved_at is null`);
  return row.at;
}

/** More open ones follow when these are resolved. */
const FINDINGS_MAX = 200;

/** The open findings, then those of the newest `limit` that are resolved; newest first. */
export async function lastFindings(sql: Sql, limit: number): Promise<readonly Finding[]> {
  // Each part by an index of its own: one condition for both would read every finding there ever was,
  // and each verdict looks here.
  return runStatement(sql<Finding[]>`
    select id, kind, topic_id as "topicId", sequence_number as "sequenceNumber",
      star_id as "starId", detail, noticed_at as "noticedAt", resolved_at as "resolvedAt"
    from (
      (select * from publishing_finding where resolved_at is null order by id desc limit ${FINDINGS_MAX})
      union all
      (select * from (select * from publishing_finding order by id desc limit ${limit}) as newest
        where resolved_at is not null)) as finding
    order by resolved_at is not null, id desc limit ${FINDINGS_MAX}`);
}

/**
 * Sets a finding aside: an operator has looked at it. It stays written down.
 *
 * @returns false when there is no such open finding
 * @throws TerminalError where the finding is a lost star: to go on without it needs a reason
 */
export async function resolveFinding(sql: Sql, id: number): Promise<boolean> {
  const [found] = await runStatement(sql<{ kind: FindingKind }[]>`
    select kind from publishing_finding where id = ${id} and resolved_at is null`);
  if (found?.kind === "lost") {
    throw new TerminalError(
      "INVALID_REQUEST",
      `finding ${id} is a star that the journal lacks: \`starboard journal recover\` or \`starboard journal accept-loss\``,
    );
  }
  const rows = await runStatement(sql`
    update publishing_finding set resolved_at = now_ms()
    where id = ${id} and resolved_at is null returning id`);
  return rows.length > 0;
}
