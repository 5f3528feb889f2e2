import type { Job } from "bullmq";

/** The states of BullMQ's jobs, in the order in which a job may pass them. */
export const JOB_STATES = [
  "waiting",
  "prioritized",
  "delayed",
  "waiting-children",
  "active",
  "failed",
  "completed",
] as const;
export type JobState = (typeof JOB_STATES)[number];

/** A job as it may be shown. Instants are epoch milliseconds. */
export interface ShownJob {
  readonly id: string;
  readonly name: string;
  readonly state: JobState;
  readonly addedAt: number;
  /** When it is to be done; null unless it is delayed. After a failure it is right to a moment. */
  readonly dueAt: number | null;
  /** When it was last begun; null when it never was. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly attempts: number;
  readonly attemptsMax: number;
  /** Why it failed last; null when it did not. */
  readonly failure: string | null;
  /** Where in the code it failed last; null when nobody told. */
  readonly failedAt: string | null;
  /** What it holds, with what is secret left out. */
  readonly data: unknown;
}

/** What is used of a job of BullMQ. */
type KnownJob = Pick<
  Job,
  | "id"
  | "name"
  | "timestamp"
  | "delay"
  | "processedOn"
  | "finishedOn"
  | "attemptsMade"
  | "opts"
  | "failedReason"
  | "stacktrace"
  | "data"
>;

/** A job without what nobody should see: jobs of the queue `rewards` may be anybody's. */
export function shownJob(job: KnownJob, state: JobState): ShownJob {
  const { timestamp, delay, processedOn, finishedOn, attemptsMade } = job;
  // What is tried again waits from the end of its last attempt, which is nowhere written down.
  const from = processedOn ?? timestamp;
  const frame = job.stacktrace?.at(-1)?.match(/^ *at .+$/m)?.[0];
  return {
    id: job.id ?? "",
    name: job.name,
    state,
    addedAt: timestamp,
    dueAt: state === "delayed" ? from + delay : null,
    startedAt: processedOn ?? null,
    endedAt: finishedOn ?? null,
    attempts: attemptsMade,
    attemptsMax: Math.max(1, job.opts.attempts ?? 1),
    failure: job.failedReason ? shortened(job.failedReason) : null,
    failedAt: frame?.trim().slice(0, TEXT_MAX) ?? null,
    data: withoutSecrets(job.data),
  };
}

/** Names of what is never shown, whatever they hold. */
const SECRET =
  /secret|passw|passphrase|token|api[_-]?key|private|signature|authori[sz]ation|cookie|credential|mnemonic/i;
const HIDDEN = "(hidden)";
/** A job of ours has five fields; whoever adds larger ones is shown in part. */
const DEPTH_MAX = 6;
const ENTRIES_MAX = 100;
const TEXT_MAX = 1_000;

/** The same value with the values of secret names replaced, bounded in every direction. */
function withoutSecrets(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return shortened(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === DEPTH_MAX) return "…";
  if (Array.isArray(value)) {
    return value.slice(0, ENTRIES_MAX).map((each) => withoutSecrets(each, depth + 1));
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, ENTRIES_MAX)
      .map(([name, each]) => [name, SECRET.test(name) ? HIDDEN : withoutSecrets(each, depth + 1)]),
  );
}

function shortened(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
}
