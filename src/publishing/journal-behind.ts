import { counted } from "../counted.ts";
import { runLong, runStatement, type Sql } from "../store/postgres.ts";

/** How far a topic was read, and what of it the journal lacks. */
export interface TopicAgreement {
  readonly topicId: string;
  /** Messages read and compared, from the first one. */
  readonly read: number;
  /** Messages of ours whose star the journal lacks, and whose loss was not accepted. */
  readonly lost: number;
  /** Lost messages that an operator accepted, or that were recovered. */
  readonly known: number;
}

/** How far topics and journal agree. */
export interface JournalStatus {
  /** `behind`: stars are refused until the journal is recovered or the loss accepted. */
  readonly state: "ok" | "behind";
  readonly lost: number;
  readonly topics: readonly TopicAgreement[];
}

/**
 * Counts messages of ours, on any topic, whose star the journal lacks; 0 where topics and journal
 * agree as far as the topics were read.
 */
export async function countLost(sql: Sql): Promise<number> {
  const [row] = await runStatement(sql<[{ lost: number }]>`
    select count(*) as lost from publishing_finding where kind = 'lost' and resolved_at is null`);
  return row.lost;
}

/** Held while a recovery is at work. */
export const RECOVERY_LOCK = "journal recover";

/**
 * Whether the topics may hold stars that the journal lacks: some are known, or it is a copy of the
 * database in which workers read the topics. While a recovery is at work, what it brings back beside
 * stars may be missing too: ends of claims, and the bytes of days that were final.
 */
export async function mayLackStars(sql: Sql): Promise<boolean> {
  const [row] = await runStatement(sql<[{ mayLack: boolean }]>`
    select exists (select from publishing_finding where kind = 'lost' and resolved_at is null)
      or exists (select from journal_home where identity <> database_identity())
      or exists (select from pg_locks where locktype = 'advisory' and objsubid = 1
        and database = (select oid from pg_database where datname = current_database())
        and (classid::bigint << 32 | objid::bigint) = hashtext(${RECOVERY_LOCK})) as "mayLack"`);
  return row.mayLack;
}

/** What the alarm `journal-behind` says, from any process. */
export function behindDetail(lost: number): string {
  return `the journal lacks ${counted(lost, "star")} that its topics hold`;
}

/** The same, topic by topic. */
export async function journalStatus(sql: Sql): Promise<JournalStatus> {
  const topics = await runStatement(sql<TopicAgreement[]>`
    select reading.topic_id as "topicId", reading.sequence_number as read,
      count(finding.id) filter (where resolved_at is null) as lost,
      count(finding.id) filter (where resolved_at is not null) as known
    from topic_reading reading
    left join publishing_finding finding
      on finding.topic_id = reading.topic_id and finding.kind = 'lost'
    group by reading.topic_id order by reading.topic_id`);
  const lost = topics.reduce((sum, topic) => sum + topic.lost, 0);
  return { state: lost === 0 ? "ok" : "behind", lost, topics };
}

/**
 * Goes on without the stars that the journal lacks: their messages are known from now on.
 *
 * @returns how many there were
 */
export async function acceptLoss(sql: Sql): Promise<number> {
  // The day's export says so; a clock that was set back over midnight must not change a final one.
  const rows = await runLong(sql`
      update publishing_finding set resolved_at = (select outside_final_days(now_ms()))
      where kind = 'lost' and resolved_at is null returning id`);
  return rows.length;
}
