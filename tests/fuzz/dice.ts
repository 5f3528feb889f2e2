/** A source of randomness that can be repeated (mulberry32). */
export interface Dice {
  /** A whole number below `sides`. */
  below(sides: number): number;
  pick<T>(of: readonly T[]): T;
}

export function dice(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (sides: number): number => Math.floor(next() * sides);
  return { below, pick: (of) => of[below(of.length)] as (typeof of)[number] };
}

/** Printable ASCII without spaces. */
export function junk(random: Dice, most = 40): string {
  const length = random.below(most);
  return Array.from({ length }, () => String.fromCharCode(33 + random.below(94))).join("");
}

/** Repeats a value beyond what any buffer is made for, now and then. */
export function stretched(random: Dice, value: string): string {
  return random.below(12) === 0 ? value.repeat(1 + random.below(2_000)).slice(0, 12_000) : value;
}
