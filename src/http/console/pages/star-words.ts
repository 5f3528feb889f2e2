import type { StarReceipt } from "../../../reads/receipts.ts";
import { type Html, html } from "../markup.ts";
import { kindWords } from "../words.ts";

/** `token 0.0.9001`, of `token/0.0.9001`. */
export function targetName(target: string): Html {
  const [type = "", id = ""] = target.split("/");
  return html`${kindWords(type)} <span class="code">${id}</span>`;
}

/** What a weight is made of, as a sentence; and what did not count though it was held. */
export function weightWords(star: {
  readonly base: number;
  readonly countedA: number;
  readonly bonusB: number;
  readonly heldA: number;
  readonly heldB: number;
}): string {
  const { base, countedA, bonusB, heldA, heldB } = star;
  const rest = countedA < heldA ? ", the others had counted" : "";
  const parts = [
    base === 1 ? "1 for the wallet" : "nothing for the wallet, which had starred before",
    ...(heldA === 0 ? [] : [`${countedA} for collection A (${heldA} held${rest})`]),
    ...(heldB === 0 ? [] : [bonusB === 0 ? "no +5: it had counted already" : "5 for collection B"]),
  ];
  return parts.join(", ");
}

export function breakdownWords({ breakdown, holdings }: StarReceipt): string {
  return weightWords({
    base: breakdown.base,
    countedA: breakdown.collectionA,
    bonusB: breakdown.collectionB,
    heldA: holdings.collectionA,
    heldB: holdings.collectionB,
  });
}
