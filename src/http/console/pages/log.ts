import { type KeptEntry, readOperatorLog } from "../../../store/operator-log.ts";
import type { Sql } from "../../../store/postgres.ts";
import { ago, badge, type Html, html, section, table } from "../markup.ts";
import type { Page } from "../page.ts";
import { older, wholeNumber } from "../paging.ts";
import { actionWords } from "../words.ts";

const PER_PAGE = 50;

/** What operators did here, newest first. */
export function logPage({ sql }: { readonly sql: Sql }): Page {
  return {
    path: "/log",
    nav: "Operator log",
    async show({ query, now }) {
      const before = wholeNumber(query, "before");
      const found = await readOperatorLog(sql, { limit: PER_PAGE + 1, before });
      const entries = found.slice(0, PER_PAGE);
      const rows = entries.map((entry) => [
        ago(entry.at, now),
        entry.operator,
        html`<span title="${entry.action}">${actionWords(entry.action)}</span>`,
        entry.subject,
        outcome(entry),
        html`<code title="${entry.sessionId}">${entry.sessionId.slice(-6)}</code>`,
      ]);
      const next = found.length > PER_PAGE ? entries.at(-1)?.id : undefined;
      return {
        title: "Operator log",
        body: html`<p class="lead">Every sign-in and every action of this console. Nothing here can be changed or removed.</p>
${section(
  "Entries",
  html`${table({
    caption: "Operator log, newest first",
    columns: [
      "When",
      { label: "Who", isWhole: true },
      { label: "Action", isWhole: true },
      "About",
      { label: "Outcome", isText: true },
      "Session",
    ],
    rows,
  })}${older(next === undefined ? null : `/ops/log?before=${next}`)}`,
)}`,
      };
    },
  };
}

function outcome({ phase, notice }: KeptEntry): Html {
  if (phase === "begun") return badge("plain", "begun");
  return html`${badge(phase === "done" ? "good" : "bad", phase)} ${notice}`;
}
