import { createNodeRedisClient, createPostgresBackend, Queue, Worker, withBackend } from "bullmq";
import { createClient } from "redis";
import { inTime } from "../ledger/in-time.ts";

/** Where wake-ups travel: the Redis of the service, or its Postgres where there is none. */
export type QueueBackend = { readonly redisUrl: string } | { readonly postgresUrl: string };

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
/** The braces keep all its keys on one node of a Redis Cluster. */
const PREFIX = "{starboard}";
const CONNECT_TIMEOUT_MS = 2_000;
const RECONNECT_EVERY_MS_MAX = 1_000;
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
  runRetryDelay: RECONNECT_EVERY_MS_MAX,
} as const;

/** The sending end. @throws whatever the server answers when it cannot be used */
export async function openSender(options: EndOptions): Promise<QueueEnd> {
  return open(options, (connect) => {
    const queue = connect.queue();
    return { part: queue, add: () => queue.add("wake", {}, ONE_WAKE_UP) };
  });
}

/** The receiving end: `onWake` runs for each wake-up. @throws as `openSender` */
export async function openReceiver(options: EndOptions, onWake: () => void): Promise<QueueEnd> {
  return open(options, (connect) => ({
    part: connect.worker(async () => onWake()),
    add: () => Promise.reject(new Error("the receiving end sends nothing")),
  }));
}

interface Part {
  on(event: "error", listener: (error: Error) => void): unknown;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

interface Connect {
  queue(): Part & { add(name: string, data: object, options: object): Promise<unknown> };
  worker(process: () => Promise<void>): Part;
  /** Cuts what `close` could not end. */
  cut(): void;
}

async function open(
  { backend, onError }: EndOptions,
  make: (connect: Connect) => { readonly part: Part; readonly add: () => Promise<unknown> },
): Promise<QueueEnd> {
  const connect =
    "redisUrl" in backend ? onRedis(backend.redisUrl, onError) : onPostgres(backend.postgresUrl);
  const { part, add } = make(connect);
  part.on("error", onError);
  const close = async (): Promise<void> => {
    await inTime(part.close(), CLOSE_WITHIN_MS).catch(onError);
    connect.cut();
  };
  try {
    await inTime(part.waitUntilReady(), 2 * CONNECT_TIMEOUT_MS);
    return { add, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function onRedis(url: string, onError: (error: unknown) => void): Connect {
  const clients: ReturnType<typeof plainClient>[] = [];
  const connect = (): ReturnType<typeof plainClient> => {
    const client = plainClient(url);
    client.on("error", onError);
    clients.push(client);
    // A worker makes itself a second connection to wait on; that one must end too.
    Object.defineProperty(client, "duplicate", { value: connect });
    return client;
  };
  const options = () => ({
    connection: createNodeRedisClient(connect()),
    prefix: PREFIX,
  });
  return {
    queue: () => new Queue(NAME, options()),
    worker: (process) => new Worker(NAME, process, { ...options(), ...RECEIVER }),
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
      connectTimeout: CONNECT_TIMEOUT_MS,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, RECONNECT_EVERY_MS_MAX),
    },
  });
}

function onPostgres(connectionString: string): Connect {
  const { Queue, Worker } = withBackend(createPostgresBackend);
  // Its tables live in a schema of their own; several may migrate at once.
  const options = {
    connection: {
      connectionString,
      max: 2,
      migrate: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    },
  };
  return {
    queue: () => new Queue(NAME, options),
    worker: (process) => new Worker(NAME, process, { ...options, ...RECEIVER }),
    cut: () => undefined,
  };
}
