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
