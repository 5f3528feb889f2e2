import { html, raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";

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

const NUMBERS = new Intl.NumberFormat("en");

/** `12,345`; with `places` at most that many digits behind the point, or significant ones if that shows more. */
export function number(value: number, places = 0): string {
  if (places === 0) return NUMBERS.format(value);
  return value.toLocaleString("en", {
    maximumFractionDigits: places,
    maximumSignificantDigits: places,
    roundingPriority: "morePrecision",
  });
}

/** `+250`, `−40`, `0` */
export function signed(value: number): string {
  return value === 0 ? "0" : `${value < 0 ? "−" : "+"}${number(Math.abs(value))}`;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long something lasts: `4.2 s`, `3 min`, `5 h`, `2 days`. */
export function duration(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < 2 * MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < 2 * HOUR) return `${Math.round(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.round(ms / HOUR)} h`;
  return `${number(Math.round(ms / DAY))} days`;
}

/** `2026-11-20 13:05:12 UTC`; with milliseconds where they matter. */
export function instantText(at: number, isPrecise = false): string {
  const text = new Date(at).toISOString().replace("T", " ");
  return `${isPrecise ? text.slice(0, 23) : text.slice(0, 19)} UTC`;
}

/** An instant as people read it, `3 min ago`; the exact one is in its title. */
export function ago(at: number, now: number): Html {
  const text = at > now + SECOND ? `in ${duration(at - now)}` : `${duration(now - at)} ago`;
  return html`<time datetime="${new Date(at).toISOString()}" title="${instantText(at)}" data-relative>${
    now - at < SECOND && at <= now + SECOND ? "just now" : text
  }</time>`;
}

/**
 * An instant in a history: how long ago, and below it exactly when.
 *
 * @param isDayKnown true where everything is of one day that is named: the time is enough
 */
export function moment(at: number, now: number, isDayKnown = false): Html {
  const exact = instantText(at);
  return html`${ago(at, now)} <span class="exact hint">${isDayKnown ? exact.slice(11) : exact}</span>`;
}

/** An instant as it is, for where exactness matters. */
export function instant(at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}">${instantText(at, true)}</time>`;
}

/**
 * How a column looks. Text is sentences: wide enough to be read where the table scrolls; whole is
 * never broken over lines, as names and instants; actions are buttons, which stay in sight where the
 * table scrolls. The heading of a column of buttons or check boxes is for screen readers alone. The title says what a row is about: its heading where rows become cards; without
 * one that is the first column.
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
