import { TerminalError } from "../../errors.ts";
import { type Html, html } from "./markup.ts";

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
