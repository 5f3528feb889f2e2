import { setTimeout as pause } from "node:timers/promises";
import { dayOf } from "../../actors/day.ts";
import { ASK_AGAIN_MS, ASKS_MAX, endOfTopic, replayTopics } from "../audit/replay-topic.ts";
import { dayOfStarId, instantOfStarId } from "../journal/star-id.ts";
import { entityNumber } from "../ledger/entity-id.ts";
import type { MirrorMemo, MirrorTopicMessage } from "../ledger/mirror/schemas.ts";
import { formatTransactionId, parseTransactionId } from "../ledger/transaction-id.ts";
import { parseStarMessage, type StarMessage } from "../publishing/message.ts";
import { runLong, type Sql } from "../store/postgres.ts";
import type { Notes, Recovery } from "./recovery.ts";

/**
 * Reads both topics from where the journal knows them without a gap, and takes in each message of
 * a star that it does not know. The star's id stands in the transaction's memo; those come by the
 * hundred from the transactions of the account that paid.
 *
 * @throws MirrorError; Error in one line when the mirror node leaves out messages that it has, or knows no
 *   such topic
 */
export async function stageMessages(recovery: Recovery, notes: Notes): Promise<void> {
  const { sql, mirror, settings, onProgress } = recovery;
  const name = await readNames(sql);
  await forgetMisread(sql, [settings.topics.event, settings.topics.asset]);
  const ranges = await Promise.all(
    [settings.topics.event, settings.topics.asset].map(async (topic) => {
      const last = await endOfTopic(mirror, topic);
      return { topic, after: Math.min(last, await knownOf(sql, topic)), last };
    }),
  );
  const total = ranges.reduce((sum, { after, last }) => sum + last - after, 0);
  const memosOf = memoReader(mirror);
  let read = 0;
  let piece: MirrorTopicMessage[] = [];
  const stage = async (): Promise<void> => {
    const rows = rowsOf(recovery, { piece, name, notes, memos: await memosOf(piece) });
    // A published star of the journal has its message.
    await runLong(sql`
      insert into recovery_message
      select said.*
      from json_populate_recordset(null::recovery_message, ${JSON.stringify(rows)}::text::json) as said
      where not exists (select from outbox where outbox.topic_id = said.topic_id
        and outbox.sequence_number = said.sequence_number and state = 'published')
      on conflict do nothing`);
    read += piece.length;
    piece = [];
    onProgress("messages", read, total);
  };
  const given = new Map(ranges.map(({ topic, after }) => [topic, after]));
  const batches = replayTopics(mirror, ranges);
  let next = await batches.next();
  for (; next.done !== true; next = await batches.next()) {
    for (const { topicId, sequenceNumber } of next.value) {
      if (given.get(topicId) === sequenceNumber - 1) given.set(topicId, sequenceNumber);
    }
    piece.push(...next.value);
    if (piece.length >= recovery.piece) await stage();
  }
  if (piece.length > 0) await stage();
  const short = ranges.filter(({ topic, last }) => given.get(topic) !== last);
  // All topics end where one gives nothing more: that one is to be named.
  const fault = short.find(({ topic }) => next.value.has(topic)) ?? short[0];
  if (fault !== undefined) {
    const { topic, last } = fault;
    const what = `the mirror node has ${last} messages of topic ${topic} and gave ${given.get(topic)} without a gap`;
    throw new Error(`${what}: run this again, or name another mirror node`);
  }
  // So many rows at once: what follows is planned for them, and not for an empty table.
  await runLong(sql`analyze recovery_message`);
}

/**
 * What an earlier run took in from other topics, or under a name that the catalogue lacked then, is
 * not to be written: the former is forgotten, the latter read again.
 */
async function forgetMisread(sql: Sql, topics: readonly string[]): Promise<void> {
  const isMisread = sql`topic_id <> all(${topics}::text[]) or not case target_type
    when 'event' then exists (select from event where id = target_id)
    when 'token' then exists (select from token where id = target_id)
    when 'collection' then exists (select from collection where id = target_id)
    else exists (select from project where id = target_id) end`;
  const found = sql`select from recovery_message where ${isMisread} limit 1`;
  if ((await runLong(found)).length === 0) return;
  await runLong(sql`delete from recovery_message where ${isMisread}`);
}

/** How far a topic is known without a gap: by published stars, conflicts among them, and by what was taken in. */
async function knownOf(sql: Sql, topic: string): Promise<number> {
  const [row] = await runLong(sql<[{ known: number }]>`
    select coalesce(max(sequence_number) filter (where sequence_number = place), 0) as known
    from (
      select sequence_number, row_number() over (order by sequence_number) as place
      from (
        select sequence_number from outbox where topic_id = ${topic} and state = 'published'
        union
        select sequence_number from recovery_message where topic_id = ${topic}
      ) as known
    ) as numbered`);
  return row.known;
}

/** The catalogue's id of what a message names; undefined where the catalogue lacks it. */
type Names = (type: string, named: string) => string | undefined;

async function readNames(sql: Sql): Promise<Names> {
  const rows = await runLong(sql<{ named: string; id: string }[]>`
      select 'project/' || id as named, id from project
      -- A project with a ledger id is named by that.
      union all select 'project/' || ledger_id, id from project where ledger_id is not null
      union all select 'event/' || id, id from event
      union all select 'token/' || id, id from token
      union all select 'collection/' || id, id from collection`);
  const ids = new Map(rows.map(({ named, id }) => [named, id]));
  return (type, named) => ids.get(`${type}/${named}`);
}

interface Staging {
  readonly piece: readonly MirrorTopicMessage[];
  readonly name: Names;
  readonly notes: Notes;
  readonly memos: ReadonlyMap<string, MirrorMemo>;
}

/** An empty journal has no star on the topics that a command could hold its settings against. */
const OTHER_KIND = "a star of the other kind: are the two topics swapped?";

function rowsOf(
  { settings }: Recovery,
  { piece, name, notes, memos }: Staging,
): readonly ReturnType<typeof rowOf>[] {
  const { a, b } = settings.collections;
  return piece.flatMap((message) => {
    const star = parseStarMessage(message.bytes, { a: a.key, b: b.key });
    const kind = message.topicId === settings.topics.event ? "event_vote" : "asset_vote";
    const memo = memos.get(message.consensusTimestamp);
    const place = `message ${message.sequenceNumber} on ${message.topicId}`;
    if (star?.type !== kind) {
      const what = star === undefined ? "no star of this service" : OTHER_KIND;
      notes.doubt(`${place}: ${what}`);
      return [];
    }
    // The id's own time is the star's: a memo of something else cannot pass for it.
    const isOwn = memo !== undefined && instantOfStarId(memo.memo) === star.timestamp;
    if (!isOwn || dayOfStarId(memo.memo) === null) {
      notes.doubt(`${place}: its transaction's memo is not the id of its star`);
      return [];
    }
    return rowOf(star, { message, memo, name, notes });
  });
}

function rowOf(
  star: StarMessage,
  given: Pick<Staging, "name" | "notes"> & {
    readonly message: MirrorTopicMessage;
    readonly memo: MirrorMemo;
  },
) {
  const { message, memo, name, notes } = given;
  const isEvent = star.type === "event_vote";
  const [type, named] = isEvent ? ["event", star.eventId] : [star.targetType, star.targetId];
  const id = name(type, named);
  if (id === undefined) notes.doubt(`${type}/${named}: the catalogue lacks it; import it first`);
  return {
    topic_id: message.topicId,
    sequence_number: message.sequenceNumber,
    consensus_timestamp: message.consensusTimestamp,
    running_hash: message.runningHash,
    transaction_id: formatTransactionId(parseTransactionId(memo.transactionId)),
    star_id: memo.memo,
    topic: isEvent ? "event" : "asset",
    wallet: entityNumber(star.wallet),
    at: star.timestamp,
    day: dayOf(star.timestamp),
    target_type: type,
    target_id: id ?? named,
    is_forever_mint: isEvent && star.eventType === "FOREVER_MINT",
    message: message.bytes.toString("latin1"),
  };
}

/** One row less than a page: a page that is full would be asked for its successor. */
const MEMOS_OF_SPAN = 99;

/**
 * Reads the memos of messages that follow each other, by consensus timestamp; asked for side by side. A node
 * that lacks the transaction of a message is behind the one that gave the message. Where it keeps lacking one,
 * it may have none of them, and waiting for each of thousands would take hours: then it is asked once.
 */
function memoReader(mirror: Recovery["mirror"]) {
  let asksMax = ASKS_MAX;
  return async (piece: readonly MirrorTopicMessage[]): Promise<ReadonlyMap<string, MirrorMemo>> => {
    const memos = new Map<string, MirrorMemo>();
    const lacksSome = (span: readonly MirrorTopicMessage[]): boolean =>
      span.some((message) => !memos.has(message.consensusTimestamp));
    const readSpan = async (span: readonly MirrorTopicMessage[]): Promise<void> => {
      const [first, last] = [span[0], span.at(-1)];
      if (first === undefined || last === undefined) return;
      const bounds = { from: first.consensusTimestamp, to: last.consensusTimestamp };
      for (let asks = 0; asks < asksMax && lacksSome(span); asks++) {
        if (asks > 0) await pause(ASK_AGAIN_MS);
        for (const payer of new Set(span.map((message) => message.payer))) {
          for await (const page of mirror.messageMemos(payer, bounds)) {
            for (const memo of page) memos.set(memo.consensusTimestamp, memo);
          }
        }
      }
    };
    const spans = Array.from({ length: Math.ceil(piece.length / MEMOS_OF_SPAN) }, (_, index) =>
      piece.slice(index * MEMOS_OF_SPAN, (index + 1) * MEMOS_OF_SPAN),
    );
    await Promise.all(spans.map(readSpan));
    if (lacksSome(piece)) asksMax = 1;
    return memos;
  };
}
