import type { Day } from "../../../actors/day.ts";
import { TerminalError } from "../../errors.ts";
import { dayOfStarId } from "../../journal/star-id.ts";
import { UUID } from "../../uuid.ts";
import { code, type Html, html } from "./markup.ts";

export function actorLink(name: string, text: string = name): Html {
  return html`<a href="/ops/actors/${name}">${text}</a>`;
}

export function walletLink(wallet: string): Html {
  return html`<a class="code" href="/ops/wallets/${wallet}">${wallet}</a>`;
}

/** The page of a star; ids are long, and differ in their ends. */
export function starLink(id: string): Html {
  return html`<a href="/ops/stars/${id}" title="${id}"><span class="code">…${id.slice(-6)}</span></a>`;
}

/** Something long that people take along: one line of it, the whole in its title and to be copied. */
export function copyable(text: string): Html {
  return html`<span class="copyable"><span class="code" title="${text}" data-copy="${text}">${text}</span></span>`;
}

/**
 * A thing of the ledger, with the way to the explorer where there is one.
 *
 * @param explorer base of the explorer's pages; null for a network that has none
 * @param what `token/0.0.n`, `topic/0.0.n`, `transaction/<consensus timestamp>`
 */
export function onExplorer(explorer: string | null, what: string, text: string): Html {
  if (explorer === null) return code(text);
  return html`<a class="code" href="${explorer}/${what}" rel="noopener noreferrer external">${text}</a>`;
}

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
  if ([...text].length > 200 || /\p{C}/u.test(text)) {
    throw new TerminalError("INVALID_REQUEST", `${name} must be up to 200 printable characters`);
  }
  return text;
}

/** The id by which a list goes on; null at its beginning. @throws TerminalError `INVALID_REQUEST` */
export function uuidOf(query: URLSearchParams, name: string): string | null {
  const id = textOf(query, name);
  if (id !== "" && !UUID.test(id))
    throw new TerminalError("INVALID_REQUEST", `${name} must be an id`);
  return id || null;
}

/**
 * The star by which a list goes on; undefined at its beginning.
 *
 * @throws TerminalError `INVALID_REQUEST` for what is no star's id
 */
export function starOf(
  query: URLSearchParams,
  name: string,
): { readonly day: Day; readonly id: string } | undefined {
  const id = textOf(query, name);
  if (id === "") return undefined;
  const day = dayOfStarId(id);
  if (day === null) throw new TerminalError("INVALID_REQUEST", `${name} must be the id of a star`);
  return { day, id };
}

/** What a page holds of a list; one more is read. */
export const PER_PAGE = 50;

/**
 * Cuts a list at the end of a page.
 *
 * @param found one more than the page holds where there are more
 * @param after the address of what comes after the last one shown
 * @returns what is shown, and the way to the rest: nothing where there is nothing more
 */
export function pageOf<T>(
  found: readonly T[],
  after: (last: T) => string,
  word = "Older",
  size = PER_PAGE,
): { readonly shown: readonly T[]; readonly more: Html } {
  const shown = found.slice(0, size);
  const last = shown.at(-1);
  if (found.length <= size || last === undefined) return { shown, more: html`` };
  const link = html`<a class="button" href="${after(last)}" rel="next">${word} →</a>`;
  return { shown, more: html`<nav class="pager" aria-label="Pages">${link}</nav>` };
}
