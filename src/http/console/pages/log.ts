import { type KeptEntry, readOperatorLog } from "../../../store/operator-log.ts";
import { UUID } from "../forms.ts";
import { badge, type Content, type Html, html, moment, section, table } from "../markup.ts";
import type { Page, PagesDeps } from "../page.ts";
import { older, wholeNumber } from "../paging.ts";
import { actionWords } from "../words.ts";

const PER_PAGE = 50;

/** What operators did here, newest first. */
export function logPage({ sql }: PagesDeps): Page {
  return {
    path: "/log",
    nav: "Operator log",
    async show({ query, now }) {
      const before = wholeNumber(query, "before");
      const found = await readOperatorLog(sql, { limit: PER_PAGE + 1, before });
      const entries = found.slice(0, PER_PAGE);
      const rows = entries.map((entry) => [
        moment(entry.at, now),
        entry.operator,
        html`<span title="${entry.action}">${actionWords(entry.action)}</span>`,
        subjectOf(entry),
        outcome(entry),
        html`<span class="code">${entry.origin}</span>`,
      ]);
      const next = found.length > PER_PAGE ? entries.at(-1)?.id : undefined;
      return {
        title: "Operator log",
        body: html`<p class="lead">Every sign-in, and every act of this console and of the command line: who, what, from where, when and how it ended. Nothing here can be changed or removed. <a href="/ops/log.ndjson" download>Export as NDJSON</a></p>
${section(
  "Entries",
  html`${table({
    caption: "Operator log, newest first",
    columns: [
      { label: "When", isWhole: true },
      { label: "Who", isWhole: true },
      { label: "Action", isWhole: true, isTitle: true },
      { label: "About" },
      { label: "Outcome", isText: true },
      { label: "From", isWhole: true },
    ],
    rows,
    empty: "Nothing was done yet.",
  })}${older(next === undefined ? null : `/ops/log?before=${next}`)}`,
)}`,
      };
    },
  };
}

function subjectOf({ subject }: KeptEntry): Content {
  return UUID.test(subject)
    ? html`<span class="code" title="${subject}">…${subject.slice(-6)}</span>`
    : subject;
}

function outcome({ phase, notice, reason }: KeptEntry): Html {
  if (phase === "begun") return html`${badge("warn", "begun")} How it ended is not known.`;
  const why = reason === null ? "" : html` <span class="quiet">Reason: ${reason}</span>`;
  return html`${badge(phase === "done" ? "good" : "bad", phase)} ${notice}${why}`;
}
