import { RetryableError } from "../errors.ts";
import {
  connectQueues,
  type QueueBackend,
  type QueueConnection,
  type ReadingPart,
} from "./queue-connection.ts";
import { JOB_STATES, type JobState, type ShownJob, shownJob } from "./queue-job.ts";

/** A queue as it may be shown. Instants are epoch milliseconds. */
export interface ShownQueue {
  readonly name: QueueName;
  /** How many jobs there are of each state. */
  readonly counts: Readonly<Record<JobState, number>>;
  /** True while nobody is given any of its jobs. */
  readonly isPaused: boolean;
  /** How many are connected to take its jobs; null where the server does not tell. */
  readonly workers: number | null;
  /** What adds a job by the clock; null where nothing does, or nothing stands. */
  readonly schedule: { readonly pattern: string; readonly nextAt: number } | null;
}

/** Which jobs of a queue: of one state, those that come first (`delayed`) or are newest. */
export interface JobsAsked {
  readonly name: QueueName;
  readonly state: JobState;
  /** How many to leave out. */
  readonly skip: number;
  readonly limit: number;
}

/** Looks at the queues. All of it throws RetryableError `UNAVAILABLE` when they do not answer. */
export interface QueueReader {
  /** Where the queues live. */
  readonly home: "redis" | "postgres";
  queues(): Promise<readonly ShownQueue[]>;
  queue(name: QueueName): Promise<ShownQueue>;
  jobs(asked: JobsAsked): Promise<readonly ShownJob[]>;
  /** Null when there is no such job, or no more. */
  job(name: QueueName, id: string): Promise<ShownJob | null>;
  close(): Promise<void>;
}

/** The queues of this service; rewards has BullMQ's own prefix, because others consume it. */
const QUEUES: Readonly<
  Record<QueueName, { readonly prefix?: string; readonly scheduler?: string }>
> = {
  publishing: {},
  upkeep: { scheduler: "holdings-check" },
  rewards: { prefix: "bull" },
};
export const QUEUE_NAMES = ["publishing", "upkeep", "rewards"] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

interface Opened {
  readonly connection: QueueConnection;
  readonly part: ReadingPart;
}

const ANSWER_WITHIN_MS = 2_000;
const CLOSE_WITHIN_MS = 500;

/**
 * Looks at BullMQ's queues and changes nothing. It connects when it is first asked, and not
 * before the server is there: BullMQ goes on looking for one it never found.
 *
 * @param deps.isThere whether the server answers now
 */
export function openQueueReader(deps: {
  readonly backend: QueueBackend;
  readonly isThere: () => boolean;
}): QueueReader {
  const home = "redisUrl" in deps.backend ? "redis" : "postgres";
  const opened = new Map<QueueName, Opened>();
  const open = (name: QueueName): Opened => {
    const known = opened.get(name);
    if (known !== undefined) return known;
    const { prefix } = QUEUES[name];
    const connection = connectQueues(deps.backend, {
      onError: () => undefined,
      ...(prefix !== undefined && { prefix }),
    });
    const fresh = { connection, part: connection.reader(name) };
    opened.set(name, fresh);
    return fresh;
  };
  const ask = async <T>(name: QueueName, look: (part: ReadingPart) => Promise<T>): Promise<T> => {
    if (!deps.isThere()) throw away();
    const { part } = open(name);
    try {
      return await within(
        ANSWER_WITHIN_MS,
        part.waitUntilReady().then(() => look(part)),
      );
    } catch (error) {
      // On Postgres one that was refused at first, say for want of tables, is refused for ever.
      if (home === "postgres" && opened.delete(name)) part.close().catch(() => undefined);
      throw error;
    }
  };
  const queue = (name: QueueName) => ask(name, (part) => readQueue(name, part));
  return {
    home,
    queue,
    queues: () => Promise.all(QUEUE_NAMES.map(queue)),
    jobs: (asked) => ask(asked.name, (part) => readJobs(part, asked)),
    job: (name, id) => ask(name, (part) => readJob(part, id)),
    async close() {
      const all = [...opened.values()];
      const closing = Promise.all(all.map(({ part }) => part.close()));
      await within(CLOSE_WITHIN_MS, closing).catch(() => undefined);
      for (const { connection } of all) connection.cut();
    },
  };
}

async function readQueue(name: QueueName, part: ReadingPart): Promise<ShownQueue> {
  const [counts, isPaused, workers, schedule] = await Promise.all([
    readCounts(part),
    part.isPaused(),
    countWorkers(part),
    readSchedule(name, part),
  ]);
  return { name, counts, isPaused, workers, schedule };
}

/**
 * On Postgres what waits in a paused queue is counted as `paused` and not as waiting, although
 * its type does not say so; on Redis that count is of the lists of older versions.
 */
const COUNTED: readonly string[] = [...JOB_STATES, "paused"];

async function readCounts(part: ReadingPart): Promise<Record<JobState, number>> {
  const found = await part.getJobCounts(...(COUNTED as JobState[]));
  const countOf = (state: JobState): number =>
    (found[state] ?? 0) + (state === "waiting" ? (found.paused ?? 0) : 0);
  return Object.fromEntries(JOB_STATES.map((state) => [state, countOf(state)])) as Record<
    JobState,
    number
  >;
}

/** Servers for hire may refuse the list of their clients, or hide it behind one line of excuse. */
async function countWorkers(part: ReadingPart): Promise<number | null> {
  try {
    const found = await part.getWorkers();
    return found.every(({ rawname }) => rawname !== undefined) ? found.length : null;
  } catch {
    return null;
  }
}

/** By its name: a list of all schedulers would remove one that it finds half written. */
async function readSchedule(name: QueueName, part: ReadingPart): Promise<ShownQueue["schedule"]> {
  const { scheduler } = QUEUES[name];
  const found = scheduler === undefined ? undefined : await part.getJobScheduler(scheduler);
  if (found?.pattern === undefined || !found.next) return null;
  return { pattern: found.pattern, nextAt: found.next };
}

async function readJobs(
  part: ReadingPart,
  { state, skip, limit }: JobsAsked,
): Promise<readonly ShownJob[]> {
  const found = await part.getJobs([state], skip, skip + limit - 1, state === "delayed");
  // A job may be gone between the list and the look at it.
  return found.filter(Boolean).map((job) => shownJob(job, state));
}

async function readJob(part: ReadingPart, id: string): Promise<ShownJob | null> {
  const [job, state] = await Promise.all([part.getJob(id), part.getJobState(id)]);
  const known = JOB_STATES.find((one) => one === state);
  return job === undefined || known === undefined ? null : shownJob(job, known);
}

function away(cause?: unknown): RetryableError {
  return new RetryableError("UNAVAILABLE", "the queues do not answer", 1, cause);
}

async function within<T>(deadlineMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(away()), deadlineMs);
  });
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    throw away(error);
  } finally {
    clearTimeout(timer);
  }
}
