import { type Logger, oncePerOutage } from "../log.ts";
import { every, type Service } from "../service.ts";
import {
  connectQueues,
  OWN_PREFIX,
  QUEUE_RECONNECT_EVERY_MS_MAX,
  type QueueConnection,
} from "../store/queue-connection.ts";
import { withDeadline } from "../with-deadline.ts";
import { yieldToEventLoop } from "../yield-to-event-loop.ts";

/**
 * Wakes publishers when stars were accepted. It is a hint, never the truth: the outbox is
 * the queue, and a sweep finds what a lost wake-up left behind. So nothing here waits,
 * fails or is retried on behalf of a star.
 */
export interface WakeQueue extends Service {
  /** Wakes a publisher soon. Costs the caller nothing; never throws. */
  wake(): void;
  /** Calls back at each wake-up, from now on. */
  onWake(handler: () => void): void;
}

/** The queue of wake-ups, under the prefix of all our own. */
export const PUBLISHING_QUEUE = { name: "publishing", prefix: OWN_PREFIX } as const;
const RETRY_EVERY_MS = 1_000;
/** A lost wake-up is found by the sweep anyway. */
const ADD_WITHIN_MS = 2_000;

/**
 * All wake-ups are one: while one waits, others are dropped, and while one is being
 * delivered, the next is kept. So a day without a worker leaves one, not a million.
 */
const ONE_WAKE_UP = {
  deduplication: { id: "stars", keepLastIfActive: true },
  removeOnComplete: true,
  removeOnFail: true,
} as const;

/**
 * A wake-up is delivered in a millisecond, so its lock needs no renewal (whose timer would
 * outlive a worker that cannot reach its server). One whose receiver died holds back the
 * next ones until its lock is found stale; the sweep looks meanwhile.
 */
const RECEIVER = {
  skipLockRenewal: true,
  lockDuration: 5_000,
  stalledInterval: 5_000,
  // Fifteen seconds by default: too long for a server that is back.
  runRetryDelay: QUEUE_RECONNECT_EVERY_MS_MAX,
} as const;

/**
 * Wake-ups between processes, through BullMQ. Opens nothing yet: the sending end with the first
 * `wake`, the receiving one with `onWake`; each is tried again until Redis is there.
 *
 * @param redisUrl of a Redis that is fit for BullMQ
 */
export function createWakeQueue(redisUrl: string, log: Logger): WakeQueue {
  const outage = oncePerOutage(log, "the wake-up queue is away");
  let isClosing = false;
  const onError = (error: unknown): void => {
    if (!isClosing) outage.failed(error);
  };
  const opened: QueueConnection[] = [];
  const open = async <End>(make: (connection: QueueConnection) => End): Promise<End> => {
    // Making a client takes milliseconds; a star's reply does not wait for them.
    await yieldToEventLoop();
    const connection = await connectQueues(redisUrl, { onError });
    const end = make(connection);
    await connection.ready();
    opened.push(connection);
    return end;
  };

  const openSender = () => open((connection) => connection.queue(PUBLISHING_QUEUE.name));
  let sender: Awaited<ReturnType<typeof openSender>> | undefined;
  let isWanted = false;
  let isAway = false;
  /** At most one on its way; what comes meanwhile is one more. */
  const send = async (): Promise<void> => {
    if (!isWanted) return;
    sender ??= await openSender();
    isWanted = false;
    await withDeadline(sender.add("wake", {}, ONE_WAKE_UP), ADD_WITHIN_MS);
    outage.over();
    isAway = false;
  };
  const sending = every(RETRY_EVERY_MS, send, {
    onFailure(error) {
      isAway = true;
      onError(error);
    },
  });
  const receiving: Service[] = [];

  return {
    wake() {
      isWanted = true;
      // One try a second is enough then, for any number of stars.
      if (!isAway) sending.wake();
    },
    onWake(handler) {
      const deliver = (): void => {
        outage.over();
        handler();
      };
      let isOpen = false;
      const receive = async (): Promise<void> => {
        if (isOpen) return;
        await open((connection) => connection.worker(PUBLISHING_QUEUE.name, deliver, RECEIVER));
        isOpen = true;
      };
      receiving.push(every(RETRY_EVERY_MS, receive, { onFailure: onError, firstAfterMs: 0 }));
    },
    async close() {
      isClosing = true;
      await Promise.all([sending, ...receiving].map((loop) => loop.close()));
      await Promise.all(opened.map((connection) => connection.close()));
    },
  };
}

/** Wake-ups within one process: web and worker run side by side and need no server between them. */
export function createDirectWakeQueue(): WakeQueue {
  const handlers = new Set<() => void>();
  return {
    wake() {
      for (const handler of handlers) handler();
    },
    onWake: (handler) => void handlers.add(handler),
    close: async () => handlers.clear(),
  };
}
