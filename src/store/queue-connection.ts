import { createNodeRedisClient, createPostgresBackend, Queue, Worker, withBackend } from "bullmq";
import { createClient } from "redis";

/** Where BullMQ's queues live: the Redis of the service, or its Postgres where there is none. */
export type QueueBackend = { readonly redisUrl: string } | { readonly postgresUrl: string };

/** What a queue and a worker of BullMQ have in common, on either backend. */
export interface QueuePart {
  on(event: "error", listener: (error: Error) => void): unknown;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

/** What we use of a queue. */
export type SendingPart = QueuePart &
  Pick<
    Queue,
    "add" | "addBulk" | "getJobCountByTypes" | "getJobScheduler" | "remove" | "upsertJobScheduler"
  >;

/** What may be looked at of a queue; nothing of it changes anything. */
export type ReadingPart = QueuePart &
  Pick<
    Queue,
    | "getJob"
    | "getJobCounts"
    | "getJobScheduler"
    | "getJobs"
    | "getJobState"
    | "getWorkers"
    | "isPaused"
  >;

/** How a worker of ours may differ from BullMQ's defaults. */
export interface ReceivingOptions {
  readonly skipLockRenewal?: boolean;
  readonly lockDuration?: number;
  readonly stalledInterval?: number;
  readonly runRetryDelay?: number;
}

/** Makes queues and workers, whose connections end together. */
export interface QueueConnection {
  queue(name: string): SendingPart;
  reader(name: string): ReadingPart;
  worker(name: string, process: () => Promise<void>, options?: ReceivingOptions): QueuePart;
  /** Cuts what `close` of a part could not end. */
  cut(): void;
}

export interface QueueConnectionOptions {
  /** Every error of every connection; without a listener they would end the process. */
  readonly onError: (error: unknown) => void;
  /** The first part of all Redis keys. */
  readonly prefix?: string;
}

export const QUEUE_CONNECT_WITHIN_MS = 2_000;
export const QUEUE_RECONNECT_EVERY_MS_MAX = 1_000;
/** The braces keep all keys of a queue on one node of a Redis Cluster. */
const PREFIX = "{starboard}";

/** Connects nothing yet: each part does when it is made. */
export function connectQueues(
  backend: QueueBackend,
  { onError, prefix = PREFIX }: QueueConnectionOptions,
): QueueConnection {
  return "redisUrl" in backend
    ? onRedis(backend.redisUrl, { onError, prefix })
    : onPostgres(backend.postgresUrl, onError);
}

function onRedis(
  url: string,
  { onError, prefix }: Required<QueueConnectionOptions>,
): QueueConnection {
  const clients: ReturnType<typeof plainClient>[] = [];
  const connect = (): ReturnType<typeof plainClient> => {
    const client = plainClient(url);
    client.on("error", onError);
    clients.push(client);
    // A worker makes itself a second connection to wait on; that one must end too.
    Object.defineProperty(client, "duplicate", { value: connect });
    return client;
  };
  const options = () => ({ connection: createNodeRedisClient(connect()), prefix });
  return {
    queue: (name) => heard(new Queue(name, options()), onError),
    // Without the option even a reader would write down its version.
    reader: (name) => heard(new Queue(name, { ...options(), skipMetasUpdate: true }), onError),
    worker: (name, process, own = {}) =>
      heard(new Worker(name, process, { ...options(), ...own }), onError),
    cut() {
      for (const client of clients) {
        // Whoever still holds one would open it again.
        Object.defineProperty(client, "connect", { value: refuse });
        if (client.isOpen) client.destroy();
      }
    },
  };
}

async function refuse(): Promise<never> {
  throw new Error("the queue is closed");
}

function plainClient(url: string) {
  return createClient({
    url,
    maintNotifications: "disabled",
    socket: {
      connectTimeout: QUEUE_CONNECT_WITHIN_MS,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, QUEUE_RECONNECT_EVERY_MS_MAX),
    },
  });
}

function onPostgres(
  connectionString: string,
  onError: QueueConnectionOptions["onError"],
): QueueConnection {
  const { Queue, Worker } = withBackend(createPostgresBackend);
  // Its tables live in a schema of their own; several may migrate at once.
  const connection = {
    connectionString,
    max: 2,
    migrate: true,
    connectionTimeoutMillis: QUEUE_CONNECT_WITHIN_MS,
  };
  return {
    queue: (name) => heard(new Queue(name, { connection }), onError),
    // One who looks makes no tables either.
    reader: (name) =>
      heard(
        new Queue(name, { connection: { ...connection, migrate: false }, skipMetasUpdate: true }),
        onError,
      ),
    worker: (name, process, own = {}) =>
      heard(new Worker(name, process, { connection, ...own }), onError),
    cut: () => undefined,
  };
}

function heard<P extends QueuePart>(part: P, onError: (error: unknown) => void): P {
  part.on("error", onError);
  return part;
}
