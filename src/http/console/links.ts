import type { LedgerNetwork } from "../../ledger/entity-id.ts";
import { type Html, html } from "./markup.ts";

/** The page of an actor, by its name. */
export function actorLink(name: string, text: string = name): Html {
  return html`<a href="/ops/actors/${name}">${text}</a>`;
}

/** The page of a star; ids are long, and differ in their ends. */
export function starLink(id: string, text: string = `…${id.slice(-6)}`): Html {
  return html`<a href="/ops/stars/${id}" title="${id}"><span class="code">${text}</span></a>`;
}

/** Something long that people take along: one line of it, the whole in its title and to be copied. */
export function copyable(text: string): Html {
  return html`<span class="copyable"><span class="code" title="${text}" data-copy="${text}">${text}</span></span>`;
}

/** The public explorer of each network that has one. */
const EXPLORED: readonly string[] = ["mainnet", "testnet", "previewnet"];

/**
 * Where the public explorer shows a thing of the ledger.
 *
 * @param what `transaction/<consensus timestamp>`, `topic/0.0.n`, `account/0.0.n`
 * @returns null for a network that is not public
 */
export function explorerUrl(network: LedgerNetwork, what: string): string | null {
  return EXPLORED.includes(network) ? `https://hashscan.io/${network}/${what}` : null;
}

/** A thing of the ledger, with the way to the public explorer where there is one. */
export function onLedger(network: LedgerNetwork, what: string, text: string): Html {
  const url = explorerUrl(network, what);
  if (url === null) return html`<span class="code">${text}</span>`;
  return html`<a class="code" href="${url}" rel="noopener noreferrer external">${text}</a>`;
}
