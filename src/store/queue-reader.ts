import { RetryableError } from "../errors.ts";
import {
  connectQueues,
  type QueueBackend,
  type QueueConnection,
  type ReadingPart,
} from "./queue-connection.ts";

/** A job as it may be shown. Instants are epoch milliseconds. */
export interface ShownJob {
  readonly id: string;
  readonly name: string;
  readonly state: JobState;
  readonly addedAt: number;
  readonly attempts: number;
  /** Why it failed; null when it did not. */
  readonly failure: string | null;
  readonly data: unknown;
}

/** A queue as it may be shown. */
export interface ShownQueue {
  readonly name: string;
  /** How many jobs there are of each state; states without any are left out. */
  readonly counts: readonly (readonly [JobState, number])[];
  /** The newest of each state. */
  readonly jobs: readonly ShownJob[];
}

export interface QueueReader {
  /** @throws RetryableError `UNAVAILABLE` when the queues' server does not answer */
  read(): Promise<readonly ShownQueue[]>;
  close(): Promise<void>;
}

const STATES = [
  "active",
  "waiting",
  "prioritized",
  "delayed",
  "waiting-children",
  "failed",
  "completed",
] as const;
type JobState = (typeof STATES)[number];

/** The queues of this service; rewards has BullMQ's own prefix, because others consume it. */
const QUEUES = [
  { name: "publishing" },
  { name: "upkeep" },
  { name: "rewards", prefix: "bull" },
] as const;

/** Of each state: enough to see what they are like. */
const JOBS_SHOWN = 10;
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
  const connections: QueueConnection[] = [];
  let parts: readonly { readonly name: string; readonly part: ReadingPart }[] | undefined;
  const open = () => {
    parts ??= QUEUES.map(({ name, ...own }) => {
      const connect = connectQueues(deps.backend, { onError: () => undefined, ...own });
      connections.push(connect);
      return { name, part: connect.reader(name) };
    });
    return parts;
  };
  return {
    async read() {
      if (!deps.isThere()) throw away();
      return within(
        ANSWER_WITHIN_MS,
        Promise.all(open().map(({ name, part }) => readQueue(name, part))),
      );
    },
    async close() {
      const closing = (parts ?? []).map(({ part }) => part.close());
      await within(CLOSE_WITHIN_MS, Promise.all(closing)).catch(() => undefined);
      for (const connection of connections) connection.cut();
    },
  };
}

async function readQueue(name: string, part: ReadingPart): Promise<ShownQueue> {
  await part.waitUntilReady();
  const found = await part.getJobCounts(...STATES);
  const counts = STATES.flatMap((state) => {
    const count = found[state] ?? 0;
    return count > 0 ? [[state, count] as const] : [];
  });
  const jobs = await Promise.all(
    counts.map(async ([state]) => {
      const newest = await part.getJobs([state], 0, JOBS_SHOWN - 1, false);
      // A job may be gone between the list and the look at it.
      return newest.filter(Boolean).map((job) => ({
        id: job.id ?? "",
        name: job.name,
        state,
        addedAt: job.timestamp,
        attempts: job.attemptsMade,
        failure: job.failedReason || null,
        data: job.data as unknown,
      }));
    }),
  );
  return { name, counts, jobs: jobs.flat() };
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
