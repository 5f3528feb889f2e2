import type { OneNode } from "../ledger/mirror/limits.ts";
import type { MirrorTopicMessage } from "../ledger/mirror/schemas.ts";
import { parseTimestamp } from "../ledger/transaction-id.ts";
import { findReading, readTopicOn, type Verdict } from "./confirm.ts";
import type { PublishContext } from "./context.ts";

/**
 * Reads one topic back from the mirror node, in sequence and without a gap, for as long as
 * its messages are on their way: one request confirms up to a hundred stars, and what was
 * read past proves what is not there.
 *
 * *Idle* until poked. *Reading*: page after page while there are more; then soon again,
 * and more and more slowly while nothing comes. *Idle* when nothing is awaited any more.
 */
export type TopicFollower = ReturnType<typeof followTopic>;

export interface FollowerParts extends Pick<PublishContext, "mirror" | "clock" | "wait"> {
  readonly sql: PublishContext["outbox"]["sql"];
  readonly failpoint: PublishContext["failpoint"];
  readonly topicId: string;
  /** The operator's account; undefined where the settings do not name it. */
  readonly payer: string | undefined;
  readonly onVerdict: (verdict: Verdict) => void;
  /** Called with how long after consensus a star was confirmed, milliseconds. */
  readonly onConfirmLag?: (milliseconds: number) => void;
  /** Called with why a read failed. */
  readonly onFailure: (error: unknown) => void;
}

/** On every network a message takes longer than this to reach the mirror node. */
const FIRST_LOOK_MS = 80;
/** Five requests a second per topic are a tenth of what public mirror nodes allow. */
const LOOK_EVERY_MS = 200;
/** They are a few seconds behind; an outage is not worth more requests than this. */
const LOOK_EVERY_MS_MAX = 2_000;
const PAGE_DEADLINE_MS = 5_000;

export function followTopic(parts: FollowerParts) {
  const closing = new AbortController();
  let poked = new AbortController();
  let running: Promise<void> | undefined;

  const run = async (): Promise<void> => {
    await parts.wait(FIRST_LOOK_MS, closing.signal);
    let restMs = 0;
    while (!closing.signal.aborted) {
      if (poked.signal.aborted) restMs = 0;
      poked = new AbortController();
      const isAwaited = await look(parts, closing.signal);
      if (!isAwaited && !poked.signal.aborted) return;
      await parts.wait(LOOK_EVERY_MS, closing.signal);
      await parts.wait(restMs, poked.signal);
      restMs = Math.min(restMs * 1.5 + 50, LOOK_EVERY_MS_MAX - LOOK_EVERY_MS);
    }
  };

  const start = (): void => {
    if (running !== undefined || closing.signal.aborted) return;
    running = run().finally(() => {
      running = undefined;
      // Woken while it was stopping.
      if (poked.signal.aborted) start();
    });
  };

  return {
    /** Something was sent: look soon. */
    poke(): void {
      poked.abort();
      start();
    },
    /**
     * Reads to where the topic ends when this begins, or further. What is written to it meanwhile is
     * not waited for.
     *
     * @param oneNode where the end is that of the node which other reads are of
     * @returns false when there was a gap, or the publisher closes before it
     * @throws MirrorError, or RetryableError when Postgres is away
     */
    async readToEnd(oneNode?: OneNode): Promise<boolean> {
      let end = Number.POSITIVE_INFINITY;
      while (!closing.signal.aborted) {
        const { after, read, hasMore, hasGap } = await readOn(parts, oneNode);
        // Another process may have read on meanwhile, and not as far as this one saw: what was read
        // counts when the next page starts behind it.
        if (read === 0 || (after >= end && !hasMore)) return !hasGap;
        if (!hasMore && !hasGap) end = Math.min(end, after + read);
      }
      return false;
    },
    /** Stops after the page in hand. */
    async close(): Promise<void> {
      closing.abort();
      poked.abort();
      await running;
    },
  };
}

/** Reads what there is, or until it closes. @returns whether anything is still awaited, as far as is known */
async function look(parts: FollowerParts, closing: AbortSignal): Promise<boolean> {
  try {
    while ((await readOn(parts)).hasMore && !closing.aborted);
    return (await findReading(parts.sql, parts.topicId))?.awaited ?? false;
  } catch (error) {
    parts.onFailure(error);
    return true;
  }
}

interface Page {
  /** The last one compared before. */
  readonly after: number;
  /** Messages that follow the last one compared, and each other. */
  readonly read: number;
  readonly hasMore: boolean;
  /** Beyond them a message is missing: what lies there proves nothing. */
  readonly hasGap: boolean;
}

async function readOn(parts: FollowerParts, oneNode?: OneNode): Promise<Page> {
  const { sql, mirror, clock, topicId, payer, failpoint } = parts;
  const reading = await findReading(sql, topicId);
  if (reading === undefined) throw new Error(`topic ${topicId} was never sent to`);
  const after = reading.sequenceNumber;
  const { messages, more } = await mirror.topicMessages(
    topicId,
    { afterSequence: after },
    { deadlineMs: PAGE_DEADLINE_MS, background: true, oneNode },
  );
  const gap = messages.findIndex((message, i) => message.sequenceNumber !== after + 1 + i);
  const hasGap = gap !== -1;
  const sound = hasGap ? messages.slice(0, gap) : messages;
  const last = sound.at(-1);
  if (last === undefined) return { after, read: 0, hasMore: false, hasGap };
  clock.sawConsensus(parseTimestamp(last.consensusTimestamp));
  await failpoint("pub.before_confirm");
  const verdicts = await readTopicOn(sql, { ...reading, topicId, payer }, sound);
  for (const verdict of verdicts) parts.onVerdict(verdict);
  tellConfirmLag(parts, sound, verdicts);
  await failpoint("pub.confirmed");
  return { after, read: sound.length, hasMore: more && !hasGap, hasGap };
}

function tellConfirmLag(
  { clock, onConfirmLag }: FollowerParts,
  messages: readonly MirrorTopicMessage[],
  verdicts: readonly Verdict[],
): void {
  const now = clock.now();
  const confirmed = new Set(
    verdicts.flatMap(({ verdict, sequenceNumber }) =>
      verdict === "published" ? [sequenceNumber] : [],
    ),
  );
  for (const { sequenceNumber, consensusTimestamp } of messages) {
    if (!confirmed.has(sequenceNumber)) continue;
    onConfirmLag?.(Number((now - parseTimestamp(consensusTimestamp)) / 1_000_000n));
  }
}
