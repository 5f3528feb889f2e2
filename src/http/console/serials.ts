import { number } from "./markup.ts";

/** Serial numbers in their order, those in a row as one: `2 to 42, 50`. */
export function serialsText(serials: readonly number[]): string {
  const runs: { readonly first: number; last: number }[] = [];
  for (const serial of serials) {
    const run = runs.at(-1);
    if (run !== undefined && run.last + 1 === serial) run.last = serial;
    else runs.push({ first: serial, last: serial });
  }
  return runs
    .map(({ first, last }) => {
      if (first === last) return number(first);
      return `${number(first)}${last === first + 1 ? ", " : " to "}${number(last)}`;
    })
    .join(", ");
}
