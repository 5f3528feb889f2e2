import type { ShownJob } from "../../../store/queue-job.ts";
import type { QueueName } from "../../../store/queue-reader.ts";
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
import { jobStateWords, queueWords } from "../publishing-words.ts";

/** `Job star …d68ac4` */
export function jobTitle({ id, name }: ShownJob): string {
  return `Job ${name} ${shortId(id)}`;
}

/** Ids are long, and their ends tell them apart. */
export function shortId(id: string): string {
  return id.length > 12 ? `…${id.slice(-6)}` : id;
}

/** One job of a queue: how far it is, why it failed, what it holds. */
export function jobBody(queue: QueueName, job: ShownJob, now: number): Html {
  const { id, state, addedAt, dueAt, startedAt, endedAt, attempts, attemptsMax } = job;
  const at = (moment: number): Content => html`${instantText(moment)}, ${ago(moment, now)}`;
  const rows: (readonly [string, Content])[] = [
    ["State", badge(state === "failed" ? "bad" : "plain", jobStateWords(state))],
    ["Queue", html`<a href="/ops/queues/${queue}?state=${state}">${queueWords(queue)}</a>`],
    ["Added", at(addedAt)],
    ...(dueAt === null ? [] : [[attempts === 0 ? "Due" : "Tried again", at(dueAt)] as const]),
    ["Last begun", startedAt === null ? "not yet" : at(startedAt)],
    ...(endedAt === null ? [] : [["Ended", at(endedAt)] as const]),
    ["Attempts", `${number(attempts)} of ${number(attemptsMax)}`],
    ["Id", html`<span class="code">${id}</span>`],
  ];
  return html`${section("How far it is", facts(rows))}
${failureOf(job)}
${section(
  "What it holds",
  html`<pre class="message">${JSON.stringify(job.data, null, 2) ?? "nothing"}</pre>`,
  html`<span class="hint">what is secret by its name is hidden</span>`,
)}
<p class="choices"><a class="button" href="/ops/queues/${queue}?state=${state}">Back to the jobs</a></p>`;
}

function failureOf({ failure, failedAt, state }: ShownJob): Html | string {
  if (failure === null) return "";
  return section(
    state === "failed" ? "Why it failed" : "Why its last attempt failed",
    html`<p>${failure}</p>${failedAt === null ? "" : html`<p><code>${failedAt}</code></p>`}`,
  );
}
