import { html } from "hono/html";

/** How numbers, spans of time and instants are written, on the console and on the directory's pages. */

type Html = ReturnType<typeof html>;

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
