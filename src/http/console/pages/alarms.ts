import { RUNBOOK, type RunbookEntry } from "../../../upkeep/runbook.ts";
import { type Html, html, section } from "../markup.ts";
import type { Page } from "../page.ts";

export function alarmsPage(): Page {
  const body = html`<p class="lead">What each line of the verdict and each alert means, and what to do. The same text is in <code>docs/operating/alarms.md</code>.</p>
${[...RUNBOOK].map(([anchor, entry]) => entryOf(anchor, entry))}`;
  return {
    path: "/alarms",
    nav: ["Upkeep", "Alarms"],
    show: async () => ({ title: "Alarms", body }),
  };
}

/** What is done about one check or alert. */
export function entryOf(anchor: string, { title, means, meanwhile, todo }: RunbookEntry): Html {
  const steps = todo.map((step) => html`<li>${step}</li>`);
  return html`<div id="${anchor}">${section(
    title,
    html`<p>${means}</p><p><strong>Meanwhile:</strong> ${meanwhile}</p><ol>${steps}</ol>`,
  )}</div>`;
}
