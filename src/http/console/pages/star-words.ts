import type { StarNumbers } from "../../../reads/list-stars.ts";
import { code, type Html, html, number } from "../markup.ts";
import { kindWords } from "../words.ts";

/** `token 0.0.9001`, of `token/0.0.9001`. */
export function targetName(target: string): Html {
  const [type = "", id = ""] = target.split("/");
  return html`${kindWords(type)} ${code(id)}`;
}

/** A star's breakdown beside what its wallet held. */
type Weighed = Pick<StarNumbers, "base" | "countedA" | "bonusB" | "heldA" | "heldB">;

/** What a weight is made of, part by part; and what did not count though it was held. */
export function weightParts(star: Weighed): readonly (readonly [weight: number, of: string])[] {
  const { base, countedA, bonusB, heldA, heldB } = star;
  const rest = countedA < heldA ? `, ${othersWords(countedA, heldA)}` : "";
  const bonus = bonusB === 0 ? ` (${number(heldB)} held, no +5 was left to count)` : "";
  return [
    [base, base === 1 ? "for the wallet" : "for the wallet, which had starred before"],
    ...(heldA === 0
      ? []
      : [[countedA, `for collection A (${number(heldA)} held${rest})`] as const]),
    ...(heldB === 0 ? [] : [[bonusB, `for collection B${bonus}`] as const]),
  ];
}

/** The same as a sentence. */
export function weightWords(star: Weighed): string {
  const parts = weightParts(star).map(([weight, of]) => `${number(weight)} ${of}`);
  return parts.join(", ");
}

/** Of the NFTs of collection A, those that did not count: `the others had counted before`. */
function othersWords(counted: number, held: number): string {
  if (counted > 0)
    return held - counted === 1 ? "one had counted before" : "the others had counted before";
  return held === 1 ? "it had counted before" : "all had counted before";
}
