import { html, raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import { number } from "./amounts.ts";

/** Text that is HTML already; everything else put into `html` is escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;
/** What may stand between tags: text is escaped, nothing leaves nothing. */
export type Content = Html | string | number | null | readonly Content[];
export { html, raw };

/** A whole page. @param given.attributes of its body */
export function htmlDocument(given: {
  readonly title: string;
  /** Where its files lie. */
  readonly files: { readonly icon: string; readonly style: string; readonly script: string };
  readonly attributes?: Content;
  readonly body: Content;
}): Html {
  const { title, files, attributes = "", body } = given;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${files.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${files.style}">
<script type="module" src="${files.script}"></script>
</head>
<body${attributes}>
<a class="skip" href="#main">Skip to content</a>
${body}
</body>
</html>
`;
}

/**
 * How a column looks. Text is sentences: wide enough to be read where the table scrolls; whole is
 * never broken over lines, as names and instants; actions are buttons, which stay in sight where the
 * table scrolls. The heading of a column of buttons or check boxes is for screen readers alone. The
 * title says what a row is about: its heading where rows become cards; without one that is the first
 * column.
 */
type Look =
  | "plain"
  | "number"
  | "text"
  | "whole"
  | "action"
  | "choice"
  | `${"plain" | "text" | "whole"} title`;

/** A column of a table: its heading, its look, and what stands in it of each row; null shows as –. */
export type Column<Row> = readonly [
  label: string,
  look: Look,
  cell: (row: Row, index: number) => Content,
];

const isControl = (look: Look): boolean => look === "action" || look === "choice";

/** A table of more columns, or of as many with sentences or buttons, is a list of cards on a phone. */
const COLUMNS_ON_A_PHONE = 3;

/**
 * A table. Where the screen is narrow its rows become cards, each cell with its column's word; one
 * of few columns stays a table and scrolls inside its own box. Roles stand here because a browser
 * may take them from elements that are laid out otherwise.
 *
 * @param given.caption what the table is, for people who do not see it
 * @param given.empty what to say when there are no rows
 */
export function table<Row>(given: {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly empty?: string;
}): Html {
  const { caption, columns, rows, empty = "Nothing yet." } = given;
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const looks = columns.map(([, look]) => look.split(" "));
  const isLong = looks.some(([kind]) => kind === "text" || kind === "action");
  const isCards = columns.length + (isLong ? 1 : 0) > COLUMNS_ON_A_PHONE;
  const title = Math.max(
    0,
    looks.findIndex(([, mark]) => mark === "title"),
  );
  const classes = looks.map(([kind = "plain"], index): Content => {
    const names = [kind, isCards && index === title ? "title" : "plain"];
    const shown = names.filter((name) => name !== "plain");
    return shown.length === 0 ? "" : html` class="${shown.join(" ")}"`;
  });
  const head = columns.map(([label, look], at) => {
    const heading = isControl(look) ? html` aria-label="${label}">` : html`>${label}`;
    return html`<th scope="col" role="columnheader"${classes[at]}${heading}</th>`;
  });
  const cells = (row: Row, index: number): Content =>
    columns.map(
      ([label, look, cell], at) =>
        html`<td role="cell"${classes[at]}${isCards && !isControl(look) ? html` data-label="${label}"` : ""}>${shown(cell(row, index))}</td>`,
    );
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
<table role="table"${isCards ? html` class="cards"` : ""}>
<thead role="rowgroup"><tr role="row">${head}</tr></thead>
<tbody role="rowgroup">${rows.map((row, index) => html`<tr role="row">${cells(row, index)}</tr>`)}</tbody>
</table>
</div>`;
}

function shown(content: Content): Content {
  return typeof content === "number" ? number(content) : (content ?? "–");
}

/** What is said below a list of which so many are not shown. */
export function andMore(count: number): Content {
  return count > 0 ? html`<p class="hint">And ${number(count)} more.</p>` : null;
}

/** A name and what it is; null is left out. */
export type Fact = readonly [string, Content];

export function facts(pairs: readonly Fact[]): Html {
  return html`<dl class="facts">${pairs.map(([name, content]) =>
    content === null ? null : html`<div><dt>${name}</dt><dd>${content}</dd></div>`,
  )}</dl>`;
}

export function options(
  choices: readonly (readonly [value: string, text: string])[],
  chosen?: string,
): Content {
  return choices.map(
    ([value, text]) =>
      html`<option value="${value}"${value === chosen ? html` selected` : ""}>${text}</option>`,
  );
}

/** How something stands; the word says it, the colour only helps. */
export type Mood = "good" | "warn" | "bad" | "plain";

/** @param live the name by which the page's script keeps it true */
export function badge(mood: Mood, text: string, live?: string): Html {
  const mark = live === undefined ? "" : html` data-live="${live}"`;
  return html`<span class="badge ${mood}"${mark}>${text}</span>`;
}

/** Something of the machine's: an id, a code. */
export function code(text: string): Html {
  return html`<span class="code">${text}</span>`;
}

/** What is said beside something else. */
export function quiet(content: Content): Html {
  return html`<span class="quiet">${content}</span>`;
}

/** A part of a page under a heading of its own. */
export function section(title: string, content: Content, more: Content = null): Html {
  return html`<section class="card"><header><h2>${title}</h2>${more}</header>${content}</section>`;
}

/** What is alike by a key stands together; the groups come in the order of their first ones. */
export function alike<T>(
  all: readonly T[],
  keyOf: (one: T) => string,
): readonly (readonly [T, ...T[]])[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return [...groups.values()];
}
