import { RetryableError } from "../../../errors.ts";
import type { QueueReader, ShownJob, ShownQueue } from "../../../store/queue-reader.ts";
import { ago, badge, type Content, type Html, html, number, section, table } from "../markup.ts";
import type { Page } from "../page.ts";
import { jobStateWords, queueWords } from "../publishing-words.ts";

/** BullMQ's queues, to look at: they are wake-ups and hand-offs, the truth is in Postgres. */
export function queuesPage({ queues }: { readonly queues: Pick<QueueReader, "read"> }): Page {
  return {
    path: "/queues",
    below: "/publishing",
    async show({ now }) {
      const found = await queues.read().catch(goneAway);
      return {
        title: "Queues",
        body: html`<p class="lead">What BullMQ holds: counts, and the newest jobs of each state. Nothing can be changed here. If it is emptied no star is lost: what is to be published, checked or handed on is known to Postgres.</p>
${found === null ? html`<p class="notice warn">The queues do not answer just now. Publishing goes on by its sweep every few seconds.</p>` : found.map((queue) => queueSection(queue, now))}
<p><a class="button" href="/ops/publishing">Back to publishing</a></p>`,
      };
    },
  };
}

function goneAway(error: unknown): null {
  if (error instanceof RetryableError) return null;
  throw error;
}

function queueSection({ name, counts, jobs }: ShownQueue, now: number): Html {
  const told =
    counts.length === 0
      ? html`<p class="empty">Empty.</p>`
      : html`<p class="choices">${counts.map(([state, count]) =>
          badge(state === "failed" ? "bad" : "plain", `${number(count)} ${jobStateWords(state)}`),
        )}</p>${table({
          caption: `Newest jobs of ${name}`,
          columns: [
            { label: "Job", isWhole: true },
            { label: "State", isWhole: true },
            { label: "Added", isWhole: true },
            { label: "Attempts", isNumber: true },
            { label: "Holds", isText: true },
          ],
          rows: jobs.map((job) => jobRow(job, now)),
        })}`;
  return section(queueWords(name), told, html`<code>${name}</code>`);
}

function jobRow({ id, name, state, addedAt, attempts, failure, data }: ShownJob, now: number) {
  const holds: Content = html`<code>${JSON.stringify(data)}</code>${failure === null ? "" : html`<br>${failure}`}`;
  return [
    html`${name} <span class="code quiet" title="${id}">${id.length > 12 ? `…${id.slice(-6)}` : id}</span>`,
    badge(state === "failed" ? "bad" : "plain", jobStateWords(state)),
    ago(addedAt, now),
    number(attempts),
    holds,
  ];
}
