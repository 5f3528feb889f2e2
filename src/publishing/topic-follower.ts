import { parseTimestamp } from "../ledger/transaction-id.ts";
import { findReading, readTopicOn, type Verdict } from "./confirm.ts";
import type { PublishContext } from "./context.ts";

/**
 * Reads one topic back from the mirror node, in sequence and without a gap, for as long as
 * messages of ours are out there: one request confirms up to a hundred stars, and what was
 * read past proves what is not there.
 *
 * *Idle* until poked. *Reading*: page after page while there are more; then soon again,
 * and more and more slowly while nothing comes. *Idle* when nothing is awaited any more.
 */
export interface TopicFollower {
  /** Something was sent: look soon. */
  poke(): void;
  /**
   * Reads to the present end of the topic.
   *
   * @throws MirrorError, or RetryableError when Postgres is away
   */
  readToEnd(): Promise<void>;
  /** Stops after the page in hand. */
  close(): Promise<void>;
}

export interface FollowerParts extends Pick<PublishContext, "mirror" | "clock" | "wait"> {
  readonly sql: PublishContext["outbox"]["sql"];
  readonly failpoint: PublishContext["failpoint"];
  readonly topicId: string;
  readonly onVerdict: (verdict: Verdict) => void;
  /** Hears why a look came to nothing. */
  readonly onFailure: (error: unknown) => void;
}

/** A message takes longer than this to get there, everywhere. */
const FIRST_LOOK_MS = 80;
/** Five requests a second per topic are a tenth of what public mirror nodes allow. */
const LOOK_EVERY_MS = 200;
/** They are a few seconds behind; an outage is not worth more requests than this. */
const LOOK_EVERY_MS_MAX = 2_000;
const PAGE_DEADLINE_MS = 5_000;

export function followTopic(parts: FollowerParts): TopicFollower {
  const closing = new AbortController();
  let poked = new AbortController();
  let page: Promise<boolean> | undefined;
  let running: Promise<void> | undefined;

  /** Callers share a page in progress: two at once would only stand in each other's way. */
  const readPage = (): Promise<boolean> => {
    page ??= readOn(parts).finally(() => {
      page = undefined;
    });
    return page;
  };

  const run = async (): Promise<void> => {
    await parts.wait(FIRST_LOOK_MS, closing.signal);
    let restMs = 0;
    while (!closing.signal.aborted) {
      if (poked.signal.aborted) restMs = 0;
      poked = new AbortController();
      const isAwaited = await look(parts, readPage);
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
      // Poked while it was on its way out.
      if (poked.signal.aborted) start();
    });
  };

  return {
    poke() {
      poked.abort();
      start();
    },
    async readToEnd() {
      while (await readPage());
    },
    async close() {
      closing.abort();
      poked.abort();
      await running;
    },
  };
}

/** Reads to the end. @returns whether anything is still awaited, as far as one can tell */
async function look(parts: FollowerParts, readPage: () => Promise<boolean>): Promise<boolean> {
  try {
    while (await readPage());
    return (await findReading(parts.sql, parts.topicId))?.awaited ?? false;
  } catch (error) {
    parts.onFailure(error);
    return true;
  }
}

/** One page. @returns whether the node has more */
async function readOn(parts: FollowerParts): Promise<boolean> {
  const { sql, mirror, clock, topicId, failpoint } = parts;
  const reading = await findReading(sql, topicId);
  if (reading === undefined) return false;
  const after = reading.sequenceNumber;
  const { messages, more } = await mirror.topicMessages(
    topicId,
    { afterSequence: after },
    { deadlineMs: PAGE_DEADLINE_MS, background: true },
  );
  // A replica that is behind may have a hole: what lies beyond it proves nothing.
  const gap = messages.findIndex((message, i) => message.sequenceNumber !== after + 1 + i);
  const sound = gap === -1 ? messages : messages.slice(0, gap);
  const last = sound.at(-1);
  if (last === undefined) return false;
  clock.sawConsensus(parseTimestamp(last.consensusTimestamp));
  await failpoint("before_confirm");
  const verdicts = await readTopicOn(sql, { topicId, after }, sound);
  for (const verdict of verdicts) parts.onVerdict(verdict);
  await failpoint("confirmed");
  return more && gap === -1;
}
