import { inTime } from "../in-time.ts";
import {
  connectQueues,
  QUEUE_CONNECT_WITHIN_MS,
  QUEUE_RECONNECT_EVERY_MS_MAX,
  type QueueBackend,
  type QueueConnection,
  type QueuePart,
} from "../store/queue-connection.ts";

/** One end of the queue, connected. */
export interface QueueEnd {
  /** Adds one wake-up, unless one waits already. */
  add(): Promise<unknown>;
  /** Lets go of it, whether or not the server answers. */
  close(): Promise<void>;
}

/** What either end needs. */
export interface EndOptions {
  readonly backend: QueueBackend;
  /** Every error of every connection; without a listener they would end the process. */
  readonly onError: (error: unknown) => void;
}

const NAME = "publishing";
const CLOSE_WITHIN_MS = 1_000;

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

/** The sending end. @throws whatever the server answers when it cannot be used */
export async function openSender(options: EndOptions): Promise<QueueEnd> {
  return open(options, (connect) => {
    const queue = connect.queue(NAME);
    return { part: queue, add: () => queue.add("wake", {}, ONE_WAKE_UP) };
  });
}

/** The receiving end: `onWake` runs for each wake-up. @throws as `openSender` */
export async function openReceiver(options: EndOptions, onWake: () => void): Promise<QueueEnd> {
  return open(options, (connect) => ({
    part: connect.worker(NAME, async () => onWake(), RECEIVER),
    add: () => Promise.reject(new Error("the receiving end sends nothing")),
  }));
}

async function open(
  { backend, onError }: EndOptions,
  make: (connect: QueueConnection) => {
    readonly part: QueuePart;
    readonly add: () => Promise<unknown>;
  },
): Promise<QueueEnd> {
  const connect = connectQueues(backend, { onError });
  const { part, add } = make(connect);
  const close = async (): Promise<void> => {
    await inTime(part.close(), CLOSE_WITHIN_MS).catch(onError);
    connect.cut();
  };
  try {
    await inTime(part.waitUntilReady(), 2 * QUEUE_CONNECT_WITHIN_MS);
    return { add, close };
  } catch (error) {
    await close();
    throw error;
  }
}
