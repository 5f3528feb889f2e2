import type { Queue } from "bullmq";
import type { Service } from "../service.ts";
import { connectQueues, OWN_PREFIX } from "../store/queue-connection.ts";
import { withDeadline } from "../with-deadline.ts";

/** Wakes workers at 00:00 UTC. */
export interface MidnightQueue extends Service {
  /** Makes sure that the schedule stands: an emptied Redis has lost it. */
  assert(): Promise<void>;
  /** Lets go of it, whether or not the server answers; the schedule stays. */
  close(): Promise<void>;
}

export interface MidnightOptions {
  /** Of a Redis that is fit for BullMQ. */
  readonly redisUrl: string;
  /** Called at most once per midnight over all workers. */
  readonly onMidnight: () => void;
  /** Every error of every connection; without a listener they would end the process. */
  readonly onError: (error: unknown) => void;
}

/** The queue that wakes workers, under the prefix of all our queues. */
export const UPKEEP_QUEUE = { name: "upkeep", prefix: OWN_PREFIX } as const;
const SCHEDULER = "holdings-check";
const AT_MIDNIGHT = { pattern: "0 0 * * *", tz: "UTC" } as const;
const WAKE_UP = { name: "wake", data: {}, opts: { removeOnComplete: true, removeOnFail: true } };
const ANSWER_WITHIN_MS = 4_000;

/**
 * Opens both ends of BullMQ's schedule. It is a wake-up and no more: what is due is known to
 * Postgres, and a tick that needs neither Redis nor this finds it too.
 *
 * @throws Error when Redis does not answer within 4 s
 */
export async function openMidnightQueue(options: MidnightOptions): Promise<MidnightQueue> {
  const { redisUrl, onMidnight, onError } = options;
  const connection = await connectQueues(redisUrl, { onError });
  const queue = connection.queue(UPKEEP_QUEUE.name);
  connection.worker(UPKEEP_QUEUE.name, onMidnight);
  await connection.ready();
  return {
    assert: () => withDeadline(assertSchedule(queue), ANSWER_WITHIN_MS),
    close: connection.close,
  };
}

/** An upsert takes back a ring that waits to be delivered, so it is left where all is well. */
async function assertSchedule(queue: Queue): Promise<void> {
  const stands = async (): Promise<boolean> => {
    const scheduler = await queue.getJobScheduler(SCHEDULER);
    if (scheduler?.pattern !== AT_MIDNIGHT.pattern) return false;
    return (await queue.getJobCountByTypes("delayed", "waiting", "active")) > 0;
  };
  if (await stands()) return;
  try {
    await queue.upsertJobScheduler(SCHEDULER, AT_MIDNIGHT, WAKE_UP);
  } catch (error) {
    // Where several do it at once, one is refused: it is done.
    if (!(await stands())) throw error;
  }
}
