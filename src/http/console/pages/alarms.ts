import { RUNBOOK, type RunbookEntry } from "../../../upkeep/runbook.ts";
import { html, section } from "../markup.ts";
import type { Page } from "../page.ts";

/** The runbook: what each alarm means, and what to do. */
export function alarmsPage(): Page {
  const entries: readonly (readonly [string, RunbookEntry])[] = Object.entries(RUNBOOK);
  const body = html`<p class="lead">What each line of the verdict and each alert means, and what to do. The same stands in <code>docs/operating/alarms.md</code>.</p>
${entries.map(
  ([anchor, { title, means, meanwhile, todo }]) =>
    html`<div id="${anchor}">${section(
      title,
      html`<p>${means}</p><p><strong>Meanwhile:</strong> ${meanwhile}</p><ol>${todo.map((step) => html`<li>${withoutMarks(step)}</li>`)}</ol>`,
    )}</div>`,
)}`;
  return { path: "/alarms", nav: "Alarms", show: async () => ({ title: "Alarms", body }) };
}

/** The words of a line of Markdown: links lose their addresses, code its marks. */
function withoutMarks(text: string): string {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "");
}
