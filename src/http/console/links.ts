import { explorerUrl as explorerOf } from "../../addresses.ts";
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

/**
 * Where the public explorer shows a thing of the ledger.
 *
 * @param what `transaction/<consensus timestamp>`, `topic/0.0.n`, `account/0.0.n`
 * @returns null for a network that is not public
 */
export function explorerUrl(network: LedgerNetwork, what: string): string | null {
  const base = explorerOf({ HEDERA_NETWORK: network });
  return base === null ? null : `${base}/${what}`;
}

/** A thing of the ledger, with the way to the public explorer where there is one. */
export function onLedger(network: LedgerNetwork, what: string, text: string): Html {
  return onExplorer(explorerOf({ HEDERA_NETWORK: network }), what, text);
}

/**
 * A thing of the ledger, with the way to the explorer where there is one.
 *
 * @param explorer base of the explorer's pages; null for a network that has none
 * @param what `token/0.0.n`, `topic/0.0.n`, `transaction/<consensus timestamp>`
 */
export function onExplorer(explorer: string | null, what: string, text: string): Html {
  if (explorer === null) return html`<span class="code">${text}</span>`;
  return html`<a class="code" href="${explorer}/${what}" rel="noopener noreferrer external">${text}</a>`;
}
