import { instant } from "../../../../actors/day.ts";
import { type KeptEntry, operatorLogRows, readOperatorLog } from "../../../store/operator-log.ts";
import { pageByPage } from "../../../store/page-by-page.ts";
import { UUID } from "../../../uuid.ts";
import { moment } from "../amounts.ts";
import { PER_PAGE, pageOf, wholeNumber } from "../links.ts";
import { badge, type Content, code, type Html, html, quiet, section, table } from "../markup.ts";
import type { Page, PagesDeps } from "../page.ts";
import { secured } from "../reply.ts";
import { actionWords } from "../words.ts";

/** What operators did here, newest first. */
export function logPage({ sql }: PagesDeps): Page {
  return {
    path: "/log",
    nav: ["Access", "Operator log"],
    async show({ query, now }) {
      const before = wholeNumber(query, "before");
      const found = await readOperatorLog(sql, { limit: PER_PAGE + 1, before });
      const { shown, more } = pageOf(found, ({ id }) => `/ops/log?before=${id}`);
      const entries = table({
        caption: "Operator log, newest first",
        rows: shown,
        columns: [
          ["When", "whole", ({ at }) => moment(at, now)],
          ["Who", "whole", ({ operator }) => operator],
          [
            "Action",
            "whole title",
            ({ action }) => html`<span title="${action}">${actionWords(action)}</span>`,
          ],
          ["About", "plain", subjectOf],
          ["Outcome", "text", outcome],
          ["From", "whole", ({ origin }) => code(origin)],
        ],
        empty: "Nothing was done yet.",
      });
      return {
        title: "Operator log",
        body: html`<p class="lead">Every sign-in, and every act of this console and of the command line: who, what, from where, when and how it ended. Nothing here can be changed or removed. <a href="/ops/log.ndjson" download>Export as NDJSON</a></p>
${section("Entries", html`${entries}${more}`)}`,
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
  if (phase === "started") return html`${badge("warn", "started")} How it ended is not known.`;
  const why = reason === null ? "" : html` ${quiet(`Reason: ${reason}`)}`;
  return html`${badge(phase === "done" ? "good" : "bad", phase)} ${notice}${why}`;
}

const ROWS_AT_ONCE = 1_000;

/** The whole operator log, oldest first, a line of JSON for each row: `/ops/log.ndjson`. */
export function logExportPage({ sql }: PagesDeps): Page {
  return {
    path: "/log.ndjson",
    async show({ context }) {
      const pages = pageByPage(
        (last: KeptEntry | undefined) =>
          operatorLogRows(sql, { after: last?.id ?? 0, limit: ROWS_AT_ONCE }),
        (row) => `${JSON.stringify({ ...row, at: instant(row.at) })}\n`,
      );
      // The first page is read before anything is answered: a database that is away is a 503.
      const first = await pages.next();
      const body = ReadableStream.from(textOf(first.value ?? [], pages));
      return secured(context).body(body, 200, {
        "Content-Type": "application/x-ndjson",
        "Content-Disposition": 'attachment; filename="operator-log.ndjson"',
      });
    },
  };
}

async function* textOf(
  first: readonly string[],
  rest: AsyncIterable<readonly string[]>,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(first.join(""));
  for await (const lines of rest) yield Buffer.from(lines.join(""));
}
