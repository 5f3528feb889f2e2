import type { Bound } from "../sorted.ts";
import { MirrorError } from "./errors.ts";

const KIND = {
  eq: "equal (eq)",
  gt: "gt/gte",
  gte: "gt/gte",
  lt: "lt/lte",
  lte: "lt/lte",
} as const;

/**
 * An account's NFTs are sorted by collection, then serial: serials are bounded only where a
 * bound on the collections says whose they are.
 *
 * @throws MirrorError 400 for bounds that the real one does not take
 */
export function checkNftBounds(tokens: readonly Bound[], serials: readonly Bound[]): void {
  checkKinds("token.id", tokens);
  checkKinds("serialnumber", serials);
  if (tokens.length === 0 && serials.length > 0) {
    bad("serialnumber without a token.id parameter filter");
  }
  for (const edge of ["gte", "lte"] as const) {
    const isBounded = serials.some(({ operator }) => KIND[operator] === KIND[edge]);
    if (isBounded && !tokens.some(({ operator }) => operator === "eq" || operator === edge)) {
      bad(`token.id must have ${edge} or eq operator`);
    }
  }
}

/** The bounds on the serials of one collection: a range cuts only the one at its edge. */
export function serialsOf(num: number, tokens: readonly Bound[], serials: readonly Bound[]) {
  return serials.filter(({ operator }) =>
    tokens.every((token) => KIND[token.operator] !== KIND[operator] || token.value === num),
  );
}

function checkKinds(name: string, bounds: readonly Bound[]): void {
  const kinds = bounds.map(({ operator }) => KIND[operator]);
  const twice = kinds.find((kind, index) => kinds.indexOf(kind) < index);
  if (twice !== undefined) bad(`Only one ${twice} operator is allowed for ${name}`);
  if (kinds.length > 1 && kinds.includes(KIND.eq)) {
    bad(`Can't support both range and equal for ${name}`);
  }
}

function bad(message: string): never {
  throw new MirrorError(400, [message]);
}
