import { TerminalError } from "../../errors.ts";
import { type Html, html, number } from "./markup.ts";

/**
 * A whole number of the address.
 *
 * @returns undefined when it is absent or empty
 * @throws TerminalError `INVALID_REQUEST` naming the parameter
 */
export function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  if (!/^\d{1,15}$/.test(text)) {
    throw new TerminalError("INVALID_REQUEST", `${name} must be a whole number`);
  }
  return Number(text);
}

/**
 * Text of the address, as somebody typed it; empty when absent.
 *
 * @throws TerminalError `INVALID_REQUEST` for what no id or name holds
 */
export function textOf(query: URLSearchParams, name: string): string {
  const text = (query.get(name) ?? "").trim();
  if (text.length > 200 || /\p{C}/u.test(text)) {
    throw new TerminalError("INVALID_REQUEST", `${name} must be up to 200 printable characters`);
  }
  return text;
}

/** The way to what comes after this page of a list; nothing where there is nothing more. */
export function older(path: string | null, word = "Older"): Html {
  if (path === null) return html``;
  return html`<nav class="pager" aria-label="Pages"><a class="button" href="${path}" rel="next">${word} →</a></nav>`;
}

/**
 * The ways forth and back in a list that is counted, and where one is: `26–50 of 64`.
 *
 * @param given.to the address of the page that leaves so many out
 * @param given.shown how many stand on this page
 */
export function turning(given: {
  readonly to: (skip: number) => string;
  readonly skip: number;
  readonly limit: number;
  readonly shown: number;
  readonly total: number;
}): Html {
  const { to, skip, limit, shown, total } = given;
  const [back, forth] = [skip > 0, skip + limit < total && shown > 0];
  if (!back && !forth) return html``;
  const range = shown === 0 ? "none" : `${number(skip + 1)}–${number(skip + shown)}`;
  return html`<nav class="pager" aria-label="Pages">${back ? html`<a class="button" href="${to(Math.max(0, skip - limit))}" rel="prev">← Back</a>` : ""}${forth ? html`<a class="button" href="${to(skip + limit)}" rel="next">Further →</a>` : ""}<span class="hint">${range} of ${number(total)}</span></nav>`;
}
