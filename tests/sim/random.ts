/** Everything random of a run comes from one of these, so that a seed names the run. */
export interface Random {
  /** From 0 to 1, without 1. */
  next(): number;
  /** A whole number from 0 to `end`, without `end`. */
  below(end: number): number;
  /** From `least` to `most`. */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** @param seed any whole number */
export function createRandom(seed: number): Random {
  // xoshiro128**, its state filled by splitmix32.
  let fill = (seed >>> 0) ^ Math.imul(Math.floor(seed / 2 ** 32) + 1, 0x9e3779b9);
  const word = (): number => {
    fill = (fill + 0x9e3779b9) | 0;
    let z = fill;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return z ^ (z >>> 15);
  };
  let [a, b, c, d] = [word(), word(), word(), word()];
  const rotate = (x: number, by: number): number => (x << by) | (x >>> (32 - by));
  const next = (): number => {
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    const t = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= t;
    d = rotate(d, 11);
    return result / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return {
    next,
    below,
    between: (least, most) => least + next() * (most - least),
    chance: (probability) => next() < probability,
    pick: (from) => {
      if (from.length === 0) throw new RangeError("nothing to pick from");
      return from[below(from.length)] as (typeof from)[number];
    },
  };
}
