import { z } from "zod";
import type { MirrorTopicMessage } from "../ledger/mirror/schemas.ts";
import { FIRST_RUNNING_HASH, framingOf, linkOf } from "../ledger/running-hash.ts";
import { parseTimestamp } from "../ledger/transaction-id.ts";
import { runStatement, type Sql } from "../store/postgres.ts";
import { type Tracing, tracing } from "../tracing.ts";

/**
 * The result of comparing a message with what was sent, for one star (see
 * `confirm_messages` and `adopt_sent_messages` in migrations/):
 * - `published`: our id, our bytes: the star is done
 * - `adopted`: the bytes of a star that waits, sent by a journal that went further than this
 *   one: the star is done
 * - `absent`: read past the end of its time without it: the star is pending again
 * - `foreign`: our id with other bytes; it is used up, and the star pending again
 * - `contradicts`: the receipt and the mirror node contradict each other
 * - `returned`: our message under an id that had been given up
 */
export interface Verdict {
  readonly starId: string;
  readonly verdict: "published" | "adopted" | "absent" | "foreign" | "contradicts" | "returned";
  readonly sequenceNumber: number | null;
  /** From the star's instant to now; set when published or adopted. */
  readonly lagMs: number | null;
  /** The transaction id in question. */
  readonly detail: string | null;
}

/** How far a topic was read back. */
export interface Reading {
  readonly sequenceNumber: number;
  /** Of that message, base64; null where an earlier release read it. */
  readonly runningHash: string | null;
  /** Whether any star's message is still on its way. */
  readonly awaited: boolean;
}

/** Begins to read a topic, from its first message. Until then nothing can be sent to it. */
export async function beginReading(sql: Sql, topicId: string): Promise<void> {
  await runStatement(sql`
    insert into topic_reading (topic_id, sequence_number)
    values (${topicId}, 0) on conflict do nothing`);
}

/** The topics whose reading has started, those of earlier settings too. */
export async function startedTopics(sql: Sql): Promise<readonly string[]> {
  const rows = await runStatement(
    sql<{ id: string }[]>`select topic_id as id from topic_reading order by topic_id`,
  );
  return rows.map(({ id }) => id);
}

/** @returns undefined when the reading of that topic has not started */
export async function findReading(sql: Sql, topicId: string): Promise<Reading | undefined> {
  const rows = await runStatement(sql<Reading[]>`
    select sequence_number as "sequenceNumber", running_hash as "runningHash", exists (
      select from publish_attempt where topic_id = ${topicId} and closed_at is null and sends > 0) as awaited
    from topic_reading where topic_id = ${topicId}`);
  return rows[0];
}

/**
 * Reads a topic on by one page of messages that follow each other and the last one read:
 * compares each with what was sent, gives up what can no longer come, and writes down what
 * confirms no star (`reconciliation-findings.ts`). One statement.
 *
 * @param reading.payer the operator's account, where it is known here: its messages are ours
 */
export async function readTopicOn(
  sql: Sql,
  reading: Pick<Reading, "sequenceNumber" | "runningHash"> & {
    readonly topicId: string;
    readonly payer: string | undefined;
  },
  messages: readonly MirrorTopicMessage[],
): Promise<readonly Verdict[]> {
  const { topicId, sequenceNumber: after, runningHash, payer = null } = reading;
  const last = messages.at(-1);
  if (last === undefined) return [];
  const inspected = inspectMessages(messages, runningHash);
  const lastNs = String(parseTimestamp(last.consensusTimestamp));
  const verdicts = await runStatement(sql<Verdict[]>`
    select star_id as "starId", verdict, sequence_number as "sequenceNumber", lag_ms as "lagMs", detail
    from read_topic_on(${topicId}, ${after}, ${asJson(messages, inspected)}::text::json,
      ${last.sequenceNumber}, ${lastNs}, ${payer})`);
  if (tracing) await traceConfirmations(sql, tracing, verdicts);
  return verdicts;
}

/** Compares one message, wherever the reading of its topic stands. */
export async function confirmMessage(
  sql: Sql,
  message: MirrorTopicMessage,
): Promise<readonly Verdict[]> {
  const verdicts = await runStatement(sql<Verdict[]>`
    select star_id as "starId", verdict, sequence_number as "sequenceNumber", lag_ms as "lagMs", detail
    from confirm_messages(${message.topicId}, ${asJson([message])}::text::json)`);
  if (tracing) await traceConfirmations(sql, tracing, verdicts);
  return verdicts;
}

/** The last span of a star's trace: from the first sending to what the mirror node has shown. */
async function traceConfirmations(
  sql: Sql,
  { ended }: Tracing,
  verdicts: readonly Verdict[],
): Promise<void> {
  const confirmed = verdicts.filter(({ lagMs }) => lagMs !== null).map(({ starId }) => starId);
  if (confirmed.length === 0) return;
  const rows = await runStatement(sql<Confirmed[]>`
    select traceparent, (published_at - submitted_at) / 1000.0::float8 as seconds,
      json_build_object('starboard.star', star_id, 'starboard.topic', topic_id,
        'starboard.sequence_number', sequence_number,
        'starboard.consensus_timestamp', consensus_timestamp) as attributes
    from outbox where star_id = any (${confirmed}::uuid[]) and traceparent is not null`).catch(
    () => [],
  );
  for (const { seconds, ...span } of rows) ended("confirmation", seconds, span);
}

interface Confirmed {
  readonly traceparent: string;
  readonly seconds: number;
  readonly attributes: Readonly<Record<string, string | number>>;
}

function asJson(
  messages: readonly MirrorTopicMessage[],
  inspected: readonly Inspected[] = [],
): string {
  return JSON.stringify(
    messages.map((message, index) => ({
      sequence_number: message.sequenceNumber,
      consensus_timestamp: message.consensusTimestamp,
      transaction_id: message.chunk?.transactionId ?? null,
      running_hash: message.runningHash,
      payer: message.payer,
      bytes: message.bytes.toString("base64"),
      malformed: inspected[index]?.malformed ?? false,
      unchained: inspected[index]?.unchained ?? false,
      said_at: inspected[index]?.saidAt ?? null,
    })),
  );
}

/** What a message shows by itself, without the database. */
export interface Inspected {
  readonly malformed: boolean;
  /** Its running hash does not follow from the one before. */
  readonly unchained: boolean;
  /** The star's instant that it names, epoch ms; null where it names none. */
  readonly saidAt: number | null;
}

/** What every star's message has; our own messages are compared with the outbox byte for byte. */
const anyStar = z.looseObject({
  type: z.enum(["event_vote", "asset_vote"]),
  version: z.int(),
  wallet: z.string(),
  timestamp: z.int().nonnegative(),
});

/**
 * Looks at messages that follow each other on one topic.
 *
 * @param previous the running hash before the first of them, base64; null when it is unknown,
 *   and then the first link is not checked. Ignored before a topic's first message.
 */
export function inspectMessages(
  messages: readonly MirrorTopicMessage[],
  previous: string | null,
): readonly Inspected[] {
  let before = previous === null ? null : Buffer.from(previous, "base64");
  return messages.map((message) => {
    const from = message.sequenceNumber === 1 ? FIRST_RUNNING_HASH : before;
    const unchained =
      from !== null && framingOf(linkOf(message, from), message.runningHash) === undefined;
    before = Buffer.from(message.runningHash, "base64");
    const star = readStar(message.bytes);
    return { malformed: star === undefined, unchained, saidAt: star?.timestamp ?? null };
  });
}

function readStar(bytes: Buffer): z.output<typeof anyStar> | undefined {
  try {
    return anyStar.parse(JSON.parse(bytes.toString("utf8")));
  } catch {
    return undefined;
  }
}
