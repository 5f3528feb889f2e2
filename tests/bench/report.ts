/** One figure of one candidate, over the rounds. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const low = sorted[Math.floor(middle)] ?? Number.NaN;
  const high = sorted[Math.ceil(middle)] ?? Number.NaN;
  return {
    median: (low + high) / 2,
    least: sorted[0] ?? Number.NaN,
    most: sorted.at(-1) ?? Number.NaN,
  };
}

/** Figures by name, one value per round. */
export class Figures {
  readonly #values = new Map<string, number[]>();

  add(name: string, value: number): void {
    this.#values.set(name, [...(this.#values.get(name) ?? []), value]);
  }

  of(name: string): readonly number[] {
    return this.#values.get(name) ?? [];
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** Names that end like this, in the order of their first value. */
  names(ending: string): readonly string[] {
    return [...this.#values.keys()].filter((name) => name.endsWith(` ${ending}`));
  }

  /** Round by round, then the median: what the machine did in a round hits both alike. */
  ratio(name: string, ceiling: string): Spread {
    const ceilings = this.of(ceiling);
    return spreadOf(
      this.of(name).flatMap((value, round) => {
        const against = ceilings[round];
        return against === undefined || against === 0 ? [] : [value / against];
      }),
    );
  }

  asJson(): Readonly<Record<string, Spread & { readonly rounds: readonly number[] }>> {
    return Object.fromEntries(
      [...this.#values].map(([name, rounds]) => [name, { ...spreadOf(rounds), rounds }]),
    );
  }
}

/** A goal, and how the figure stands to it. Nothing is asserted: the reader judges. */
export interface Goal {
  readonly name: string;
  readonly wanted: string;
  readonly value: Spread;
  /** Undefined where the figure counts for nothing. */
  readonly isMet: boolean | undefined;
  /** How much of the goal a figure is: 1 where it is just met, more where it is better. */
  readonly reached: (figure: number) => number;
}

export function atLeast(name: string, least: number, value: Spread): Goal {
  const reached = (figure: number): number => figure / least;
  return { name, wanted: `≥ ${least}`, value, isMet: value.median >= least, reached };
}

export function atMost(name: string, most: number, value: Spread): Goal {
  // A figure of zero, where less is better, counts as the goal reached many times over.
  const reached = (figure: number): number => (figure <= 0 ? Number.MAX_VALUE : most / figure);
  return { name, wanted: `≤ ${most}`, value, isMet: value.median <= most, reached };
}

/** Goals beside the figures of a small run, which say nothing of them. */
export function unjudged(goals: readonly Goal[]): readonly Goal[] {
  return goals.map((goal) => ({ ...goal, isMet: undefined }));
}

/** One system among those that do the same. */
export interface Rival {
  readonly name: string;
  readonly isOurs: boolean;
  readonly perSecond: Spread;
  readonly p50Ms: Spread;
  /** Of its servers and its database, for one star. */
  readonly cpuUs: Spread;
  /** How many times as fast ours is at the same work. */
  readonly times: Spread;
}

/** Columns as wide as their widest cell; numbers to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "─".repeat(width)).join("  ");
  return [line(head), rule, ...rows.map(line)].join("\n");
}

/** `7,412 [6,980–7,801]`; the range only where there was more than one round. */
export function show({ median, least, most }: Spread): string {
  if (Number.isNaN(median)) return "–";
  const range = least === most ? "" : ` [${number(least)}–${number(most)}]`;
  return number(median) + range;
}

export function number(value: number): string {
  if (Number.isNaN(value)) return "–";
  const digits =
    Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

export function goalTable(goals: readonly Goal[]): string {
  return table(
    ["goal", "wanted", "measured", ""],
    goals.map((goal) => [goal.name, goal.wanted, show(goal.value), judgementOf(goal)]),
  );
}

function judgementOf({ value, isMet }: Goal): string {
  if (Number.isNaN(value.median)) return "not measured";
  if (isMet === undefined) return "not judged";
  return isMet ? "met" : "MISSED";
}
