import { html, raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";

/** Text that is HTML already; everything else put into `html` is escaped. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;
/** What may stand between tags: text is escaped, nothing leaves nothing. */
export type Content = Html | string | number | null | readonly Content[];
export { html, raw };

const NUMBERS = new Intl.NumberFormat("en");

/** `12,345`, or with so many places behind the point, and so many significant digits where that is more. */
export function number(value: number, places = 0): string {
  if (places === 0) return NUMBERS.format(value);
  return value.toLocaleString("en", {
    maximumFractionDigits: places,
    maximumSignificantDigits: places,
    roundingPriority: "morePrecision",
  });
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
  return html`${ago(at, now)} <span class="exact">${isDayKnown ? exact.slice(11) : exact}</span>`;
}

/** An instant as it is, for where exactness matters. */
export function instant(at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}">${instantText(at, true)}</time>`;
}

/** A column of a table. */
export interface Column {
  readonly label: string;
  /** Right-aligned, in figures of one width. */
  readonly isNumber?: boolean;
  /** Sentences: wide enough to be read where the table scrolls. */
  readonly isText?: boolean;
  /** Never broken over lines: names, instants. */
  readonly isWhole?: boolean;
  /** Buttons of the row: they stay in sight where the table scrolls. */
  readonly isAction?: boolean;
  /** Says what the row is about: its heading where rows become cards. The first column when absent. */
  readonly isTitle?: boolean;
}

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
export function table(given: {
  readonly caption: string;
  readonly columns: readonly (string | Column)[];
  readonly rows: readonly (readonly Content[])[];
  readonly empty?: string;
}): Html {
  const columns = given.columns.map((column) =>
    typeof column === "string" ? { label: column } : column,
  );
  if (given.rows.length === 0) return html`<p class="empty">${given.empty ?? "Nothing yet."}</p>`;
  const title = Math.max(
    0,
    columns.findIndex(({ isTitle }) => isTitle),
  );
  const isLong = columns.some(({ isText, isAction }) => isText || isAction);
  const isCards = columns.length + (isLong ? 1 : 0) > COLUMNS_ON_A_PHONE;
  const classes = columns.map((column, index) => classOf(column, isCards && index === title));
  const cell = (content: Content, index: number): Html =>
    html`<td role="cell"${classes[index]}${isCards ? html` data-label="${columns[index]?.label ?? ""}"` : ""}>${content}</td>`;
  return html`<div class="scroll" role="region" aria-label="${given.caption}" tabindex="0">
<table role="table"${isCards ? html` class="cards"` : ""}>
<thead role="rowgroup"><tr role="row">${columns.map(({ label }, index) => html`<th scope="col" role="columnheader"${classes[index]}>${label}</th>`)}</tr></thead>
<tbody role="rowgroup">${given.rows.map((row) => html`<tr role="row">${row.map(cell)}</tr>`)}</tbody>
</table>
</div>`;
}

function classOf(column: Column, isTitle: boolean): Content {
  const names = [
    column.isNumber ? "number" : "",
    column.isAction ? "action" : "",
    column.isText ? "text" : "",
    column.isWhole ? "whole" : "",
    isTitle ? "title" : "",
  ].filter(Boolean);
  return names.length === 0 ? "" : html` class="${names.join(" ")}"`;
}

/** Pairs of a name and what it is. */
export function facts(pairs: readonly (readonly [string, Content])[]): Html {
  return html`<dl class="facts">${pairs.map(
    ([name, content]) => html`<div><dt>${name}</dt><dd>${content}</dd></div>`,
  )}</dl>`;
}

/** How something stands; the word says it, the colour only helps. */
export type Mood = "good" | "warn" | "bad" | "plain";

/** @param live the name by which the page's script keeps it true */
export function badge(mood: Mood, text: string, live?: string): Html {
  const mark = live === undefined ? "" : html` data-live="${live}"`;
  return html`<span class="badge ${mood}"${mark}>${text}</span>`;
}

/** A part of a page under a heading of its own. */
export function section(title: string, content: Content, more: Content = null): Html {
  return html`<section class="card"><header><h2>${title}</h2>${more}</header>${content}</section>`;
}
