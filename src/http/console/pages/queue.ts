import { TerminalError } from "../../../errors.ts";
import { JOB_STATES, type JobState, type ShownJob } from "../../../store/queue-job.ts";
import {
  QUEUE_NAMES,
  type QueueName,
  type QueueReader,
  type ShownQueue,
} from "../../../store/queue-reader.ts";
import { UUID } from "../forms.ts";
import {
  ago,
  badge,
  type Column,
  type Content,
  duration,
  type Html,
  html,
  number,
  section,
  table,
} from "../markup.ts";
import type { Page, ShownPage } from "../page.ts";
import { turning, wholeNumber } from "../paging.ts";
import { jobStateWords, queuePurposes, queueWords } from "../publishing-words.ts";
import { jobBody, jobTitle, shortId } from "./queue-job.ts";
import { goneAway, noAnswer, statesOf } from "./queues.ts";

const PER_PAGE = 25;
/** Of what a job holds: enough to know it again. */
const FIELDS_SHOWN = 4;
const FIELD_SHOWN = 60;

type Queues = Pick<QueueReader, "queue" | "jobs" | "job">;

/** The jobs of one queue by state, and one job: `/queues/rewards`, `/queues/rewards/<job>`. */
export function queuePage({ queues }: { readonly queues: Queues }): Page {
  return {
    path: "/queues/*",
    below: "/publishing",
    async show({ rest, query, now }) {
      const slash = rest.indexOf("/");
      const name = QUEUE_NAMES.find((one) => one === (slash < 0 ? rest : rest.slice(0, slash)));
      if (name === undefined) throw new TerminalError("NOT_FOUND", "There is no such queue.");
      if (slash >= 0) return oneJob(queues, { name, id: rest.slice(slash + 1), now });
      return listOf(queues, { name, now, ...readAsked(query) });
    },
  };
}

function readAsked(query: URLSearchParams): { state: JobState | null; skip: number } {
  const asked = query.get("state");
  const state = JOB_STATES.find((one) => one === asked) ?? null;
  if (asked !== null && state === null) {
    throw new TerminalError("INVALID_REQUEST", `state must be one of ${JOB_STATES.join(", ")}`);
  }
  return { state, skip: wholeNumber(query, "skip") ?? 0 };
}

async function oneJob(
  queues: Queues,
  asked: { readonly name: QueueName; readonly id: string; readonly now: number },
): Promise<ShownPage> {
  const { name, id, now } = asked;
  const found = await queues
    .job(name, id)
    .then((job) => ({ job }))
    .catch(goneAway);
  if (found === null) return { title: queueWords(name), body: noAnswer() };
  if (found.job === null) {
    throw new TerminalError(
      "NOT_FOUND",
      `There is no job ${id} in the queue ${name} any more: what is done is kept for a while only.`,
    );
  }
  return { title: jobTitle(found.job), body: jobBody(name, found.job, now) };
}

interface Listed {
  readonly queue: ShownQueue;
  readonly state: JobState;
  readonly jobs: readonly ShownJob[];
  readonly skip: number;
  readonly now: number;
}

async function listOf(
  queues: Queues,
  asked: {
    readonly name: QueueName;
    readonly state: JobState | null;
    readonly skip: number;
    readonly now: number;
  },
): Promise<ShownPage> {
  const { name, skip, now } = asked;
  const look = async (): Promise<Listed> => {
    const queue = await queues.queue(name);
    // Without a wish: what went wrong, else what there is.
    const state =
      asked.state ??
      (["failed", ...JOB_STATES] as const).find((one) => queue.counts[one] > 0) ??
      "waiting";
    const jobs = await queues.jobs({ name, state, skip, limit: PER_PAGE });
    return { queue, state, jobs, skip, now };
  };
  const found = await look().catch(goneAway);
  return { title: queueWords(name), body: found === null ? noAnswer() : listBody(found) };
}

function listBody(listed: Listed): Html {
  const { queue, state, jobs, skip } = listed;
  const { name, counts, isPaused } = queue;
  const to = (of: JobState, from = 0): string =>
    `/ops/queues/${name}?state=${of}${from === 0 ? "" : `&skip=${from}`}`;
  const hint = state === "delayed" ? "the next one first" : "newest first";
  return html`<p class="lead">${queuePurposes(name)}</p>
${isPaused ? html`<p class="notice warn">This queue is paused: its jobs are given to nobody.</p>` : ""}
<nav class="tabs" aria-label="Jobs by state">${statesOf(counts).map(
    (one) =>
      html`<a href="${to(one)}"${one === state ? html` aria-current="true"` : ""}>${upperFirst(jobStateWords(one))} <span class="count">${number(counts[one])}</span></a>`,
  )}</nav>
${section(
  upperFirst(jobStateWords(state)),
  html`${table({
    caption: `Jobs of ${name}: ${jobStateWords(state)}`,
    columns: [{ label: "Job", isWhole: true }, ...columnsOf(state)],
    rows: jobs.map((job) => row(listed, job)),
    empty: skip > 0 ? "The list ends before this page." : emptyWords(state),
  })}${turning({ to: (from) => to(state, from), skip, limit: PER_PAGE, shown: jobs.length, total: counts[state] })}`,
  html`<span class="hint">${hint}</span>`,
)}
<p class="choices"><a class="button" href="${to(state, skip)}">Look again</a><a class="button" href="/ops/queues">All queues</a></p>`;
}

function emptyWords(state: JobState): string {
  if (state === "failed") return "No job has failed, or what failed is no longer kept.";
  if (state === "completed") return "Nothing done is kept: most jobs leave when they are done.";
  return `No job is ${jobStateWords(state)}.`;
}

const ADDED: Column = { label: "Added", isWhole: true };
const ATTEMPTS: Column = { label: "Attempts", isWhole: true };
const HOLDS: Column = { label: "Holds", isText: true };

function columnsOf(state: JobState): readonly Column[] {
  if (state === "delayed") {
    return [ADDED, { label: "Due", isWhole: true }, ATTEMPTS, { label: "Why", isText: true }];
  }
  if (state === "active") return [ADDED, { label: "Begun", isWhole: true }, ATTEMPTS, HOLDS];
  if (state === "failed") {
    return [ADDED, { label: "Failed", isWhole: true }, ATTEMPTS, { label: "Why", isText: true }];
  }
  if (state === "completed") {
    return [ADDED, { label: "Done", isWhole: true }, { label: "Took", isNumber: true }, HOLDS];
  }
  return [ADDED, ATTEMPTS, HOLDS];
}

function row({ queue, state, now }: Listed, job: ShownJob): Content[] {
  const { id, name, addedAt, dueAt, startedAt, endedAt, failure } = job;
  const at = (moment: number | null): Content => (moment === null ? "–" : ago(moment, now));
  const path = `/ops/queues/${queue.name}/${encodeURIComponent(id)}`;
  const head = html`<a href="${path}" title="${id}">${name} <span class="code">${shortId(id)}</span></a>`;
  const attempts = `${number(job.attempts)} of ${number(job.attemptsMax)}`;
  const why = failure === null ? holds(job) : html`${failure}`;
  if (state === "delayed") return [head, at(addedAt), at(dueAt), attempts, why];
  if (state === "active") return [head, at(addedAt), at(startedAt), attempts, holds(job)];
  if (state === "failed") {
    return [head, at(addedAt), at(endedAt), html`${badge("bad", attempts)}`, why];
  }
  if (state === "completed") {
    const took =
      startedAt === null || endedAt === null ? "–" : duration(Math.max(0, endedAt - startedAt));
    return [head, at(addedAt), at(endedAt), took, holds(job)];
  }
  return [head, at(addedAt), attempts, holds(job)];
}

/** The first of its fields, as names and values; ids are shortened, the page of the job has all. */
function holds({ data }: ShownJob): Content {
  const fields = typeof data === "object" && data !== null ? Object.entries(data) : [];
  if (fields.length === 0) return html`<span class="quiet">nothing</span>`;
  return html`${fields.slice(0, FIELDS_SHOWN).map(([name, value], index) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const shown = UUID.test(text) ? shortId(text) : text.slice(0, FIELD_SHOWN);
    return html`${index === 0 ? "" : " · "}<span class="quiet">${name}</span> <span title="${text}">${shown}</span>`;
  })}`;
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
