import type { StarReceipt } from "../../../reads/receipts.ts";
import { code, type Html, html, number } from "../markup.ts";
import { kindWords } from "../words.ts";

/** `token 0.0.9001`, of `token/0.0.9001`. */
export function targetName(target: string): Html {
  const [type = "", id = ""] = target.split("/");
  return html`${kindWords(type)} ${code(id)}`;
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
  const rest = countedA < heldA ? `, ${othersWords(countedA, heldA)}` : "";
  const parts = [
    base === 1 ? "1 for the wallet" : "nothing for the wallet, which had starred before",
    ...(heldA === 0 ? [] : [`${number(countedA)} for collection A (${number(heldA)} held${rest})`]),
    ...(heldB === 0 ? [] : [bonusB === 0 ? "no +5: it had counted before" : "5 for collection B"]),
  ];
  return parts.join(", ");
}

/** Of the NFTs of collection A, those that did not count: `the others had counted before`. */
export function othersWords(counted: number, held: number): string {
  if (counted > 0)
    return held - counted === 1 ? "one had counted before" : "the others had counted before";
  return held === 1 ? "it had counted before" : "all had counted before";
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
