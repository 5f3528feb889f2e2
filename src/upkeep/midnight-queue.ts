import { createNodeRedisClient, createPostgresBackend, Queue, Worker, withBackend } from "bullmq";
import { createClient } from "redis";
import type { QueueBackend } from "../publishing/queue-backend.ts";

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
/** The braces keep all its keys on one node of a Redis Cluster. */
const PREFIX = "{starboard}";
const SCHEDULER = "holdings-check";
const AT_MIDNIGHT = { pattern: "0 0 * * *", tz: "UTC" } as const;
const WAKE_UP = { name: "wake", data: {}, opts: { removeOnComplete: true, removeOnFail: true } };
const CONNECT_TIMEOUT_MS = 2_000;
const RECONNECT_EVERY_MS_MAX = 1_000;
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
  const open =
    "redisUrl" in backend ? onRedis(backend.redisUrl, onError) : onPostgres(backend.postgresUrl);
  const { queue, worker, cut } = open(async () => onMidnight());
  const parts = [queue, worker];
  for (const part of parts) part.on("error", onError);
  const close = async (): Promise<void> => {
    await Promise.all(parts.map((part) => inTime(part.close(), CLOSE_WITHIN_MS).catch(onError)));
    cut();
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
async function assertSchedule(queue: Parts["queue"]): Promise<void> {
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

interface Part {
  on(event: "error", listener: (error: Error) => void): unknown;
  waitUntilReady(): Promise<unknown>;
  close(): Promise<void>;
}

interface Parts {
  readonly queue: Part & {
    upsertJobScheduler(
      id: string,
      repeat: { readonly pattern: string; readonly tz: string },
      job: typeof WAKE_UP,
    ): Promise<unknown>;
    getJobScheduler(id: string): Promise<{ readonly pattern?: string } | null | undefined>;
    getJobCountByTypes(...types: ("delayed" | "waiting" | "active")[]): Promise<number>;
  };
  readonly worker: Part;
  /** Cuts what `close` could not end. */
  readonly cut: () => void;
}

type Open = (process: () => Promise<void>) => Parts;

function onRedis(url: string, onError: MidnightOptions["onError"]): Open {
  const clients: ReturnType<typeof plainClient>[] = [];
  const connect = (): ReturnType<typeof plainClient> => {
    const client = plainClient(url);
    client.on("error", onError);
    clients.push(client);
    // A worker makes itself a second connection to wait on; that one must end too.
    Object.defineProperty(client, "duplicate", { value: connect });
    return client;
  };
  const options = () => ({ connection: createNodeRedisClient(connect()), prefix: PREFIX });
  return (process) => ({
    queue: new Queue(NAME, options()),
    worker: new Worker(NAME, process, options()),
    cut() {
      for (const client of clients) if (client.isOpen) client.destroy();
    },
  });
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

/** @throws when no Redis answers there just now */
async function reach(url: string): Promise<void> {
  const client = createClient({
    url,
    maintNotifications: "disabled",
    socket: { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: false },
  });
  client.on("error", () => undefined);
  try {
    await inTime(
      client.connect().then(() => client.ping()),
      CONNECT_TIMEOUT_MS,
    );
  } finally {
    if (client.isOpen) client.destroy();
  }
}

function onPostgres(connectionString: string): Open {
  const { Queue, Worker } = withBackend(createPostgresBackend);
  // Its tables live in a schema of their own; several may migrate at once.
  const connection = {
    connectionString,
    max: 2,
    migrate: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  };
  return (process) => ({
    queue: new Queue(NAME, { connection }),
    worker: new Worker(NAME, process, { connection }),
    cut: () => undefined,
  });
}

async function inTime<T>(work: Promise<T>, deadlineMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the queue did not answer in time")), deadlineMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
