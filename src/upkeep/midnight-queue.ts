import { createClient } from "redis";
import { inTime } from "../in-time.ts";
import {
  connectQueues,
  QUEUE_CONNECT_WITHIN_MS,
  type QueueBackend,
  type SendingPart,
} from "../store/queue-connection.ts";

/** Wakes workers at 00:00 UTC. */
export interface MidnightQueue {
  /** Makes sure that the schedule stands: whoever empties Redis takes it along. */
  assert(): Promise<void>;
  /** Lets go of it, whether or not the server answers; the schedule stays. */
  close(): Promise<void>;
}

export interface MidnightOptions {
  readonly backend: QueueBackend;
  /** Called at most once per midnight over all workers. */
  readonly onMidnight: () => void;
  /** Every error of every connection; without a listener they would end the process. */
  readonly onError: (error: unknown) => void;
}

const NAME = "upkeep";
const SCHEDULER = "holdings-check";
const AT_MIDNIGHT = { pattern: "0 0 * * *", tz: "UTC" } as const;
const WAKE_UP = { name: "wake", data: {}, opts: { removeOnComplete: true, removeOnFail: true } };
const ANSWER_WITHIN_MS = 4_000;
const CLOSE_WITHIN_MS = 1_000;

/**
 * Opens both ends of BullMQ's schedule. It is a wake-up and no more: what is due is known to
 * Postgres, and a tick that needs neither Redis nor this finds it too.
 *
 * @throws whatever the server answers when it cannot be used
 */
export async function openMidnightQueue(options: MidnightOptions): Promise<MidnightQueue> {
  const { backend, onMidnight, onError } = options;
  // A worker of BullMQ that never found its server keeps looking for it even when closed.
  if ("redisUrl" in backend) await reach(backend.redisUrl);
  const connect = connectQueues(backend, { onError });
  const queue = connect.queue(NAME);
  const parts = [queue, connect.worker(NAME, async () => onMidnight())];
  const close = async (): Promise<void> => {
    await Promise.all(parts.map((part) => inTime(part.close(), CLOSE_WITHIN_MS).catch(onError)));
    connect.cut();
  };
  try {
    await inTime(Promise.all(parts.map((part) => part.waitUntilReady())), ANSWER_WITHIN_MS);
  } catch (error) {
    await close();
    throw error;
  }
  return { assert: () => inTime(assertSchedule(queue), ANSWER_WITHIN_MS), close };
}

/** An upsert takes back a ring that waits to be delivered, so it is left where all is well. */
async function assertSchedule(queue: SendingPart): Promise<void> {
  const stands = async (): Promise<boolean> => {
    const scheduler = await queue.getJobScheduler(SCHEDULER);
    if (scheduler?.pattern !== AT_MIDNIGHT.pattern) return false;
    return (await queue.getJobCountByTypes("delayed", "waiting", "active")) > 0;
  };
  if (await stands()) return;
  try {
    await queue.upsertJobScheduler(SCHEDULER, AT_MIDNIGHT, WAKE_UP);
  } catch (error) {
    // Of several that do it at once, one is told that it is done.
    if (!(await stands())) throw error;
  }
}

/** @throws when no Redis answers there just now */
async function reach(url: string): Promise<void> {
  const client = createClient({
    url,
    maintNotifications: "disabled",
    socket: { connectTimeout: QUEUE_CONNECT_WITHIN_MS, reconnectStrategy: false },
  });
  client.on("error", () => undefined);
  try {
    await inTime(
      client.connect().then(() => client.ping()),
      QUEUE_CONNECT_WITHIN_MS,
    );
  } finally {
    if (client.isOpen) client.destroy();
  }
}
