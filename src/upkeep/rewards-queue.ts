import type { Queue } from "bullmq";
import { RetryableError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { connectQueues, type QueueConnection } from "../store/queue-connection.ts";
import {
  closeRedis,
  connectRedis,
  openRedis,
  readySoon,
  redisScript,
  runCommand,
} from "../store/redis.ts";
import { withDeadline } from "../with-deadline.ts";
import type { StarOffer } from "./reward-hand-off.ts";

/** The queue `rewards`, from which another feature takes stars. */
export type RewardsQueue = ReturnType<typeof openRewardsQueue>;

/** How Redis shows that it has kept what it accepted. */
export interface QueueMemory {
  /** As Redis keeps it; empty when it remembers nothing. */
  readonly text: string;
  /** Another word than was written: Redis was emptied, or is another one. */
  readonly word: string;
  /** Lower than was written: Redis was restarted, or replaced, and has lost its last moments. */
  readonly offeredSeq: number;
}

export const REWARDS_QUEUE = {
  name: "rewards",
  /** BullMQ's own default: a consumer needs to know nothing but the queue's name. */
  prefix: "bull",
} as const;
const MEMORY_KEY = "starboard:rewards:memory";
/** Sets a key that still has the expected text; a missing one counts as empty. */
const replace = redisScript(`
  if (redis.call("get", KEYS[1]) or "") ~= ARGV[1] then return 0 end
  redis.call("set", KEYS[1], ARGV[2])
  return 1`);
const ANSWER_WITHIN_MS = 4_000;
const HOUR_SECONDS = 3_600;

/**
 * What a consumer may rely on: a job that throws is tried again for about 8.5 minutes, and then
 * kept for a month to be looked at. A finished one is kept for an hour, so that a star offered
 * twice (a worker died in between) is still one job.
 */
const JOB = {
  attempts: 10,
  backoff: { type: "exponential", delay: 1_000 },
  removeOnComplete: { age: HOUR_SECONDS, count: 10_000 },
  removeOnFail: { age: 30 * 24 * HOUR_SECONDS },
} as const;

/** Opens the queue; it connects in the background and throws while Redis is away. */
export function openRewardsQueue(url: string, log: Logger) {
  const redis = openRedis(url, log);
  let connection: QueueConnection | undefined;
  let rewards: Queue | undefined;
  const queue = async (): Promise<Queue> => {
    // One line per outage comes from the other connection.
    const options = { onError: () => undefined, prefix: REWARDS_QUEUE.prefix };
    connection ??= await connectQueues(url, options);
    rewards ??= connection.queue(REWARDS_QUEUE.name);
    await withDeadline(rewards.waitUntilReady(), ANSWER_WITHIN_MS);
    return rewards;
  };
  const ask = <T>(reply: Promise<T>): Promise<T> => runCommand(reply, ANSWER_WITHIN_MS);
  /** Adds a job per star; one whose id is there already stays as it is. */
  const offer = async (offers: readonly StarOffer[]): Promise<void> => {
    const jobs = offers.map((data) => ({
      name: "star",
      data,
      opts: { ...JOB, jobId: data.starId },
    }));
    const [first] = jobs;
    if (first === undefined) return;
    const there = await queue();
    // A server that has restarted lacks BullMQ's scripts: a single job brings its own along,
    // a bulk of them only names it and fails.
    await withDeadline(there.add(first.name, first.data, first.opts), ANSWER_WITHIN_MS);
    const added = await withDeadline(there.addBulk(jobs), ANSWER_WITHIN_MS);
    const isWhole = offers.every(({ starId }, index) => added[index]?.id === starId);
    if (!isWhole) throw new Error("the queue did not accept every star");
  };
  return {
    /**
     * Waits for the first connection, which is made in the background, again and again.
     *
     * @throws RetryableError `UNAVAILABLE`, saying why where there can be none
     */
    async ready(): Promise<void> {
      await closeRedis(await ask(connectRedis(url)));
      await readySoon(redis, ANSWER_WITHIN_MS);
      if (!redis.isReady) throw new RetryableError("UNAVAILABLE", "Redis did not answer in time");
    },
    /** What was last written for it to remember. */
    async recall(): Promise<QueueMemory> {
      const text = (await ask(redis.get(MEMORY_KEY))) ?? "";
      const [word = "", offeredSeq = ""] = text.split("/");
      // Others may have written there: from a place that is none, stars are offered again.
      return { text, word, offeredSeq: /^\d{1,15}$/.test(offeredSeq) ? Number(offeredSeq) : 0 };
    },
    /**
     * Called after the jobs it speaks of are added: then Redis loses it no later than any of them.
     *
     * @param before what `recall` or `remember` returned before
     * @returns what Redis remembers now
     * @throws Error when that is not what Redis remembers any more
     */
    async remember(
      before: QueueMemory,
      { word, offeredSeq }: Omit<QueueMemory, "text">,
    ): Promise<QueueMemory> {
      const text = `${word}/${offeredSeq}`;
      const isSo = await ask(replace(redis, [MEMORY_KEY], [before.text, text]));
      if (isSo !== 1) throw new Error("Redis was emptied or replaced just now");
      return { text, word, offeredSeq };
    },
    unfinished: async (): Promise<number> =>
      withDeadline((await queue()).getJobCountByTypes(...UNFINISHED), ANSWER_WITHIN_MS),
    offer,
    /** As `offer`, but also where the job is finished with; one being worked on is left alone. */
    async offerAgain(offers: readonly StarOffer[]): Promise<void> {
      const there = await queue();
      const removals = offers.map(({ starId }) => there.remove(starId));
      await withDeadline(Promise.all(removals), ANSWER_WITHIN_MS);
      await offer(offers);
    },
    async close(): Promise<void> {
      await connection?.close();
      await closeRedis(redis);
    },
  };
}

const UNFINISHED = ["waiting", "active", "delayed", "prioritized", "waiting-children"] as const;
