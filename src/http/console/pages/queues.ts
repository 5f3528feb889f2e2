import { RetryableError } from "../../../errors.ts";
import { JOB_STATES, type JobState } from "../../../store/queue-job.ts";
import type { QueueReader, ShownQueue } from "../../../store/queue-reader.ts";
import {
  ago,
  badge,
  type Content,
  facts,
  type Html,
  html,
  instantText,
  number,
  section,
} from "../markup.ts";
import type { Page } from "../page.ts";
import { jobStateWords, queuePurposes, queueWords } from "../publishing-words.ts";

type Home = QueueReader["home"];

/** BullMQ's queues, to look at: they are wake-ups and hand-offs, the truth is in Postgres. */
export function queuesPage({
  queues,
}: {
  readonly queues: Pick<QueueReader, "home" | "queues">;
}): Page {
  return {
    path: "/queues",
    below: "/publishing",
    async show({ now }) {
      const found = await queues.queues().catch(goneAway);
      return {
        title: "Queues",
        body: html`<p class="lead">To look at: nothing can be changed here. The queues live in ${homeWords(queues.home)}. If they are emptied no star is lost; what is to be published, checked or handed on is known to Postgres.</p>
${found === null ? noAnswer() : found.map((queue) => queueSection(queue, { home: queues.home, now }))}
<p><a class="button" href="/ops/queues">Look again</a></p>`,
      };
    },
  };
}

function homeWords(home: Home): string {
  return home === "redis" ? "Redis" : "Postgres, because this Redis is not fit for them";
}

/** Nothing where the queues do not answer; every other error goes on. */
export function goneAway(error: unknown): null {
  if (error instanceof RetryableError) return null;
  throw error;
}

/** What is shown instead of queues that do not answer. */
export function noAnswer(): Html {
  return html`<p class="notice warn" role="status">The queues do not answer just now. Publishing goes on by its sweep every few seconds.</p>`;
}

function queueSection(
  queue: ShownQueue,
  { home, now }: { readonly home: Home; readonly now: number },
): Html {
  const { name, isPaused } = queue;
  const more = html`<code>${name}</code>`;
  if (name === "rewards" && home === "postgres") {
    const sentence =
      "Not in use: rewards need a Redis fit for queues. Until there is one, accepted stars wait in Postgres and none is lost.";
    return section(queueWords(name), html`<p class="empty">${sentence}</p>`, more);
  }
  return section(
    queueWords(name),
    html`<p class="hint">${queuePurposes(name)}</p>
${tally(queue)}
${facts([
  ["Jobs are given out", isPaused ? badge("warn", "no, it is paused") : badge("good", "yes")],
  ["Workers connected", workersWords(queue)],
  ...(queue.schedule === null && name !== "upkeep"
    ? []
    : ([["Next by the clock", scheduleWords(queue, now)]] as const)),
])}`,
    more,
  );
}

/** How many jobs of each state, each the way to their list. */
function tally({ name, counts }: ShownQueue): Html {
  return html`<ul class="tally">${statesOf(counts).map((state) => {
    const words = html`<strong>${number(counts[state])}</strong> ${jobStateWords(state)}`;
    const isBad = state === "failed" && counts[state] > 0;
    return html`<li><a href="/ops/queues/${name}?state=${state}"${isBad ? html` class="bad"` : ""}>${words}</a></li>`;
  })}</ul>`;
}

/** No queue of ours has jobs of these; others that share it may. */
const RARE: readonly JobState[] = ["prioritized", "waiting-children"];

/** The states that are told of a queue. */
export function statesOf(counts: ShownQueue["counts"]): readonly JobState[] {
  return JOB_STATES.filter((state) => counts[state] > 0 || !RARE.includes(state));
}

function workersWords({ workers, counts }: ShownQueue): Content {
  if (workers === null) return "the server does not tell";
  if (workers > 0) return number(workers);
  return counts.waiting > 0 ? badge("warn", "none, and jobs wait") : "none";
}

function scheduleWords({ schedule }: ShownQueue, now: number): Content {
  if (schedule === null) return html`${badge("warn", "none")} a worker sets it within a minute`;
  const { nextAt } = schedule;
  return html`${instantText(nextAt)}, ${ago(nextAt, now)}`;
}
