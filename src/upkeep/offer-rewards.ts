import { randomUUID } from "node:crypto";
import { RetryableError } from "../errors.ts";
import { type Logger, oncePerOutage } from "../log.ts";
import { every, type Service } from "../service.ts";
import { followCommitWatermark } from "../store/commit-watermark.ts";
import type { Sql } from "../store/postgres.ts";
import { NIL_UUID } from "../uuid.ts";
import {
  type HandOff,
  noteHandOff,
  offeredUpTo,
  offersBetween,
  offersOfDay,
  takeHandOff,
} from "./reward-hand-off.ts";
import { openRewardsQueue, type QueueMemory, type RewardsQueue } from "./rewards-queue.ts";
import type { Troubles } from "./troubles.ts";

/** Rewards are in no hurry: one look at Postgres and one at Redis, each second. */
const POLL_EVERY_MS = 1_000;
/** A single round may meet a Redis that is just being emptied or replaced. */
const STUCK_AFTER = 2;
/** About 0.2 MB to Redis at once. */
const BATCH = 500;
/** Numbers looked at for it; no plan can then read a whole backlog for one batch. */
const SPAN = 2 * BATCH;
/** Some 70 MB of Redis while no consumer runs; the rest waits in Postgres, which has room. */
const UNFINISHED_MAX = 100_000;

/**
 * Hands every accepted star to the queue `rewards`, at least once, under its own id. Postgres is
 * the truth: how far the hand-off is stands there, and moves only after Redis has accepted. Redis
 * remembers it too, after the jobs. Where it has lost its last moments (a crash, a replica that took
 * over), the hand-off goes back to what Redis still knows; where it knows nothing (it was emptied),
 * to the last moment at which nothing in the queue was unfinished. From there all is offered again.
 * Any number of workers may run it: one hands off, the others wait for nothing. Without a Redis that
 * is fit for BullMQ the stars wait in Postgres.
 *
 * @returns what notes the batch in hand and lets go of the queue when it is closed
 */
export function startRewards(deps: {
  readonly sql: Sql;
  /** Where the queue lives; absent where no Redis is fit for BullMQ. */
  readonly redisUrl: string | undefined;
  readonly log: Logger;
  /** Called where Redis answers and the queue takes no stars. */
  readonly troubles?: Pick<Troubles, "note">;
  readonly pollEveryMs?: number;
  readonly openQueue?: typeof openRewardsQueue;
}): Service {
  const { sql, redisUrl, log, pollEveryMs = POLL_EVERY_MS, openQueue = openRewardsQueue } = deps;
  if (redisUrl === undefined) {
    log.warn("this Redis is not fit for BullMQ: rewards wait in Postgres until there is one");
    return { close: async () => undefined };
  }
  const outage = oncePerOutage(log, "rewards cannot be handed off just now");
  const queue = openQueue(redisUrl, log);
  const relay = createRelay(sql, queue, log);
  let failures = 0;
  const failed = async (error: unknown): Promise<void> => {
    const isAnswered = await queue.recall().then(
      () => true,
      () => false,
    );
    // Other checks report that Postgres or Redis is away.
    failures = isAnswered && !(error instanceof RetryableError) ? failures + 1 : 0;
    deps.troubles?.note("rewardsStuckSince", failures >= STUCK_AFTER);
  };
  const handOff = async (): Promise<void> => {
    const hasMore = await relay.step().catch(async (error: unknown) => {
      await failed(error);
      throw error;
    });
    failures = 0;
    deps.troubles?.note("rewardsStuckSince", false);
    outage.over();
    if (hasMore) handingOff.wake();
  };
  const handingOff = every(pollEveryMs, handOff, { onFailure: outage.failed, firstAfterMs: 0 });
  return {
    async close() {
      await handingOff.close();
      await queue.close();
    },
  };
}

/** The hand-off, batch by batch. */
function createRelay(sql: Sql, queue: RewardsQueue, log: Logger) {
  const holder = randomUUID();
  const lookAtJournal = followCommitWatermark(sql);
  /** As last seen: a reason not to write, never one to offer. */
  let known: HandOff | undefined;

  /** Where Redis and the hand-off agree, by what Redis remembers. */
  const agree = async (handOff: HandOff, memory: QueueMemory): Promise<HandOff> => {
    const { finishedSeq, offeredSeq } = handOff;
    if (memory.word !== handOff.queueMemory) {
      return { finishedSeq, offeredSeq: finishedSeq, queueMemory: randomUUID() };
    }
    if (memory.offeredSeq < offeredSeq) {
      return { ...handOff, offeredSeq: Math.max(finishedSeq, memory.offeredSeq) };
    }
    if (finishedSeq === offeredSeq || (await queue.unfinished()) > 0) return handOff;
    // An emptied queue has nothing unfinished either: it is noted once Redis still remembers.
    return { ...handOff, finishedSeq: offeredSeq };
  };

  /** @param upTo what was settled before the hand-off was taken: a journal in which it was taken has all of it */
  const offerNext = async (taken: HandOff, upTo: number): Promise<HandOff> => {
    // Looked at again: before the hand-off was taken the journal may have gone back.
    const { settled, drawn } = await lookAtJournal();
    const recalled = await queue.recall();
    const agreed = await agree(asFarAs(drawn.star, taken), recalled);
    const word = agreed.queueMemory ?? "";
    // A Redis that is emptied once more after the jobs then differs from one emptied before them.
    const memory = await queue.remember(recalled, { word, offeredSeq: agreed.offeredSeq });
    if ((await queue.unfinished()) >= UNFINISHED_MAX) return agreed;
    const to = Math.min(upTo, settled.star, agreed.offeredSeq + SPAN);
    const batch = await offersBetween(sql, { after: agreed.offeredSeq, upTo: to, limit: BATCH });
    await queue.offer(batch.map(({ offer }) => offer));
    // No transaction draws a settled number any more: what is not there will never be.
    const last = batch.length < BATCH ? to : (batch.at(-1)?.seq ?? to);
    const offeredSeq = Math.max(agreed.offeredSeq, last);
    await queue.remember(memory, { word, offeredSeq });
    return { ...agreed, offeredSeq };
  };

  const isAsKnown = async (settled: number): Promise<boolean> => {
    // Fewer are settled than were offered: the journal went back, and draws these numbers again.
    if (known?.offeredSeq !== settled) return false;
    // Stars that a recovery brings back may have numbers that were offered as drawn: it says so here.
    if ((await offeredUpTo(sql)) < settled) return false;
    const { word, offeredSeq } = await queue.recall();
    if (word !== known.queueMemory || offeredSeq < known.offeredSeq) return false;
    return known.finishedSeq === known.offeredSeq || (await queue.unfinished()) > 0;
  };

  return {
    /** @returns whether there is more to do at once */
    async step(): Promise<boolean> {
      const { settled } = await lookAtJournal();
      if (await isAsKnown(settled.star)) return false;
      const taken = await takeHandOff(sql, holder);
      if (taken === null) return false;
      const reached = await offerNext(taken, settled.star).catch(async (error: unknown) => {
        // As it was, for the next worker: perhaps Redis is away for this one alone.
        await noteHandOff(sql, holder, taken, taken).catch(() => undefined);
        throw error;
      });
      const isOurs = await noteHandOff(sql, holder, taken, reached);
      known = isOurs ? reached : undefined;
      if (isOurs && taken.queueMemory !== null && taken.queueMemory !== reached.queueMemory) {
        log.warn({ after: taken.finishedSeq }, "Redis was emptied: rewards are offered again");
      }
      return isOurs && reached.offeredSeq !== taken.offeredSeq && reached.offeredSeq < settled.star;
    },
  };
}

/** Numbers beyond the last one drawn went with a part of the journal, and are drawn again. */
function asFarAs(drawn: number, { offeredSeq, finishedSeq, queueMemory }: HandOff): HandOff {
  return {
    offeredSeq: Math.min(offeredSeq, drawn),
    finishedSeq: Math.min(finishedSeq, drawn),
    queueMemory,
  };
}

const NOT_HANDED_OFF =
  "this Redis remembers no hand-off to rewards: it is another one than the workers', was emptied while none of them ran, or is not fit for BullMQ";

/**
 * Offers every star of a UTC day to rewards once more, also where its job is done or failed; one
 * that is being worked on just now stays as it is.
 *
 * @returns how many
 * @throws Error in one line where this Redis remembers no hand-off: what is offered there may have no consumer
 * @throws RetryableError `UNAVAILABLE` while Redis is away; a repetition does no harm
 */
export async function reofferDay(sql: Sql, queue: RewardsQueue, day: string): Promise<number> {
  if ((await queue.recall()).text === "") throw new Error(NOT_HANDED_OFF);
  let count = 0;
  let after: string = NIL_UUID;
  for (;;) {
    const offers = await offersOfDay(sql, { day, after, limit: BATCH });
    await queue.offerAgain(offers);
    count += offers.length;
    after = offers.at(-1)?.starId ?? after;
    if (offers.length < BATCH) return count;
  }
}
