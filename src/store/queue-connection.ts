import type { EventEmitter } from "node:events";
import {
  createNodeRedisClient,
  Queue,
  type QueueOptions,
  Worker,
  type WorkerOptions,
} from "bullmq";
import { withDeadline } from "../with-deadline.ts";
import { closeRedis, connectRedis, leaveReplicas, newClient } from "./redis.ts";

/** Queues and workers of BullMQ on one Redis. They are opened and closed together. */
export type QueueConnection = Awaited<ReturnType<typeof connectQueues>>;

export interface QueueConnectionOptions {
  /** Every error of every connection; without a listener they would end the process. */
  readonly onError: (error: unknown) => void;
  /** The first part of all Redis keys. */
  readonly prefix?: string;
}

export const QUEUE_RECONNECT_EVERY_MS_MAX = 1_000;
const CONNECT_WITHIN_MS = 2_000;
const READY_WITHIN_MS = 2 * CONNECT_WITHIN_MS;
const CLOSE_WITHIN_MS = 1_000;
/** The braces keep all keys of a queue on one node of a Redis Cluster. */
export const OWN_PREFIX = "{starboard}";

/**
 * Makes sure that Redis answers; each part connects when it is made. A worker of BullMQ that never
 * found its server would go on looking for it even when closed.
 *
 * @param url `redis://…`, of a Redis that is fit for BullMQ
 * @throws Error when no Redis answers there within 2 s
 */
export async function connectQueues(
  url: string,
  { onError, prefix = OWN_PREFIX }: QueueConnectionOptions,
) {
  await closeRedis(await connectRedis(url));
  const clients: ReturnType<typeof plainClient>[] = [];
  const parts: (Queue | Worker)[] = [];
  const connect = (): ReturnType<typeof plainClient> => {
    const client = plainClient(url);
    client.on("error", onError);
    leaveReplicas(client);
    clients.push(client);
    // A worker makes itself a second connection to wait on; that one must end too.
    Object.defineProperty(client, "duplicate", { value: connect });
    return client;
  };
  const base = () => ({ connection: createNodeRedisClient(connect()), prefix });
  const kept = <Part extends Queue | Worker>(part: Part): Part => {
    // Both are emitters; only the types of their listeners differ.
    (part as EventEmitter).on("error", onError);
    parts.push(part);
    return part;
  };
  const close = async (): Promise<void> => {
    const closing = parts.map((part) => withDeadline(part.close(), CLOSE_WITHIN_MS).catch(onError));
    await Promise.all(closing);
    for (const client of clients) {
      // What still holds one would open it again.
      Object.defineProperty(client, "connect", { value: refuse });
      if (client.isOpen) client.destroy();
    }
  };
  return {
    queue: (name: string, own?: Omit<QueueOptions, "connection">): Queue =>
      kept(new Queue(name, { ...base(), ...own })),
    /** `work` runs for each job; the job itself says nothing. */
    worker: (name: string, work: () => void, own?: Omit<WorkerOptions, "connection">): Worker =>
      kept(new Worker(name, async () => work(), { ...base(), ...own })),
    /**
     * Waits until Redis has answered each of them.
     *
     * @throws Error when it does not within 4 s; everything is closed then
     */
    async ready(): Promise<void> {
      try {
        const waiting = parts.map((part) => part.waitUntilReady());
        await withDeadline(Promise.all(waiting), READY_WITHIN_MS);
      } catch (error) {
        await close();
        throw error;
      }
    },
    /** Lets go of everything, whether or not Redis answers. */
    close,
  };
}

async function refuse(): Promise<never> {
  throw new Error("the queue is closed");
}

function plainClient(url: string) {
  return newClient({
    url,
    socket: {
      connectTimeout: CONNECT_WITHIN_MS,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, QUEUE_RECONNECT_EVERY_MS_MAX),
    },
  });
}
