import { setTimeout as pause } from "node:timers/promises";
import type { MirrorTopicMessage } from "../ledger/mirror/schemas.ts";
import type { CollectionKeys } from "../publishing/message.ts";
import { parseStarMessage } from "../publishing/message.ts";
import type { AuditMirror } from "./audit-mirror.ts";
import { compareTimestamps } from "./topic-chain.ts";

/**
 * The sequence number of a topic's last message, 0 where it has none.
 *
 * @throws MirrorError; Error in one line where the mirror node knows no such topic: a mistyped one has no
 *   messages either, and what is made of them would seem to be whole
 */
export async function endOfTopic(
  mirror: Pick<AuditMirror, "topic" | "topicMessages">,
  topic: string,
  { mayBeUnknown = false } = {},
): Promise<number> {
  const { messages } = await mirror.topicMessages(topic, { limit: 1, newestFirst: true });
  const end = messages[0]?.sequenceNumber ?? 0;
  if (end === 0 && !mayBeUnknown && (await mirror.topic(topic)) === null)
    throw new Error(`the mirror node knows no topic ${topic}`);
  return end;
}

export interface TopicRange {
  readonly topic: string;
  /** Messages with a higher sequence number … */
  readonly after: number;
  /** … up to this one, which the mirror node has. */
  readonly last: number;
}

/**
 * The messages of several topics in the order of consensus, in batches of at most a page; of each
 * topic one page is held and one more is on its way. A message that the mirror node leaves out is
 * simply not there: gaps are the reader's to judge. All end where one topic gives nothing more
 * before its last message, as on a node that is behind: what follows cannot be put in order.
 *
 * @returns the last sequence number of each topic that gave nothing more before it
 * @throws MirrorError
 */
export async function* replayTopics(
  mirror: Pick<AuditMirror, "topicMessages">,
  ranges: readonly TopicRange[],
): AsyncGenerator<readonly MirrorTopicMessage[], ReadonlyMap<string, number>, undefined> {
  const cursors = ranges.map((range) => openCursor(mirror, range));
  await Promise.all(cursors.map((cursor) => cursor.fill()));
  for (;;) {
    const batch: MirrorTopicMessage[] = [];
    // As long as each topic that goes on has a message to compare, the earliest is known.
    while (batch.length < BATCH && cursors.every((cursor) => cursor.isReady())) {
      const [next] = cursors
        .flatMap((cursor) => cursor.peek() ?? [])
        .sort((one, other) => compareTimestamps(one.consensusTimestamp, other.consensusTimestamp));
      const owner = cursors.find((cursor) => cursor.peek() === next);
      if (next === undefined || owner === undefined) break;
      batch.push(next);
      owner.take();
    }
    if (batch.length === 0) {
      const missing = ranges.filter((_, index) => cursors[index]?.isReady() === false);
      return new Map(missing.map(({ topic, last }) => [topic, last]));
    }
    yield batch;
    await Promise.all(cursors.map((cursor) => cursor.fill()));
  }
}

const BATCH = 100;
/** Another node may answer each time, and one that is behind catches up within seconds. */
export const ASKS_MAX = 6;
export const ASK_AGAIN_MS = 1_000;

function openCursor(
  mirror: Pick<AuditMirror, "topicMessages">,
  { topic, after, last }: TopicRange,
) {
  let page: readonly MirrorTopicMessage[] = [];
  let index = 0;
  let readTo = after;
  let isOver = after >= last;
  const ask = () => mirror.topicMessages(topic, { afterSequence: readTo });
  let coming: ReturnType<typeof ask> | undefined;
  const isEmpty = (): boolean => index >= page.length;
  return {
    /** Whether its next message is at hand, or it has none any more. */
    isReady: () => !isEmpty() || isOver,
    peek: () => page[index],
    take() {
      index += 1;
    },
    /** Makes it ready, unless the mirror node goes on giving nothing. */
    async fill() {
      for (let asks = 0; isEmpty() && !isOver && asks < ASKS_MAX; asks++) {
        if (asks > 0) await pause(ASK_AGAIN_MS);
        const { messages } = await (coming ?? ask());
        page = messages.filter(({ sequenceNumber }) => sequenceNumber <= last);
        index = 0;
        readTo = messages.at(-1)?.sequenceNumber ?? readTo;
        isOver = readTo >= last;
        coming = isOver || isEmpty() ? undefined : ask();
        // Awaited when its turn comes; until then a failure is no one's.
        coming?.catch(() => undefined);
      }
    },
  };
}

/** Off the text: an object would put names made of digits first. */
const NAMES = /"holdings":\{"(?<a>[^"\\]+)":\d+,"(?<b>[^"\\]+)":\d+\}/;

/**
 * The names of the two collections inside messages, as the topic's first star has them: the
 * specification's order is collection A, then B. Anything else that stands before it is passed over.
 *
 * @returns undefined when the topic has no star yet
 */
export async function keysOnTopic(
  mirror: Pick<AuditMirror, "topicMessages">,
  assetTopic: string,
): Promise<CollectionKeys | undefined> {
  for (let afterSequence = 0; ; ) {
    const { messages } = await mirror.topicMessages(assetTopic, { afterSequence });
    for (const { bytes, sequenceNumber } of messages) {
      const { a = "", b = "" } = NAMES.exec(Buffer.from(bytes).toString("latin1"))?.groups ?? {};
      if (parseStarMessage(bytes, { a, b })?.type === "asset_vote") return { a, b };
      afterSequence = sequenceNumber;
    }
    if (messages.length === 0) return undefined;
  }
}
