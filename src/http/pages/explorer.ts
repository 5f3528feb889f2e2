import { type Html, html } from "../console/markup.ts";

/**
 * A thing of the ledger, with the way to the explorer where there is one.
 *
 * @param explorerUrl base of the explorer's pages; null for a network that has none
 * @param what `token/0.0.n`, `topic/0.0.n`, `transaction/<consensus timestamp>`
 */
export function onExplorer(explorerUrl: string | null, what: string, text: string): Html {
  if (explorerUrl === null) return html`<span class="code">${text}</span>`;
  return html`<a class="code" href="${explorerUrl}/${what}" rel="noopener noreferrer external">${text}</a>`;
}
