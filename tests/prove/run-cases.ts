import { type Case, nameOf } from "./cases.ts";

/** Where cases of one kind run, one after the other. */
export interface World {
  /** @returns whether the failpoint was passed so often at all */
  run(given: Case): Promise<boolean>;
  close(): Promise<void>;
}

/** What became of a case. */
export interface Outcome {
  readonly name: string;
  readonly at: string;
  readonly mode: string;
  /** Undefined when it held. */
  readonly failure: Error | undefined;
  readonly seconds: number;
}

export interface RunOptions {
  /** How many worlds side by side. */
  readonly lanes: number;
  /** Whether each case goes on with the next hit until there is none. */
  readonly allHits: boolean;
  readonly onOutcome?: (outcome: Outcome) => void;
}

/** A place that a star passes more often than this is a loop, and loops are no places. */
const HITS_MAX = 40;

/**
 * Runs every case, in several worlds. A world in which a case failed is thrown away: what went
 * wrong there would be found again by every case after it.
 */
export async function runCases(
  cases: readonly Case[],
  openWorld: () => Promise<World>,
  options: RunOptions,
): Promise<readonly Outcome[]> {
  const waiting = [...cases];
  const outcomes: Outcome[] = [];
  const lane = async (): Promise<void> => {
    let world: World | undefined;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      for (let hit = next.hit; hit < next.hit + HITS_MAX; hit++) {
        world ??= await openWorld();
        const { outcome, isHit } = await runOne(world, { ...next, hit });
        if (isHit || outcome.failure !== undefined) {
          outcomes.push(outcome);
          options.onOutcome?.(outcome);
        }
        if (outcome.failure !== undefined) {
          await world.close().catch(() => undefined);
          world = undefined;
        }
        if (!isHit || !options.allHits) break;
      }
    }
    await world?.close();
  };
  await Promise.all(Array.from({ length: Math.min(options.lanes, cases.length) }, lane));
  return outcomes;
}

async function runOne(world: World, given: Case) {
  const { at, mode } = given;
  const started = performance.now();
  let isHit = false;
  let failure: Error | undefined;
  try {
    isHit = await world.run(given);
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
  }
  const seconds = (performance.now() - started) / 1_000;
  const outcome: Outcome = { name: nameOf(given), at, mode, failure, seconds };
  return { outcome, isHit };
}

/** Places down, modes across; how many hits held, and how many did not. */
export function tableOf(outcomes: readonly Outcome[], modes: readonly string[]): string {
  const places = [...new Set(outcomes.map(({ at }) => at))];
  const cell = (at: string, mode: string): string => {
    const mine = outcomes.filter((each) => each.at === at && each.mode === mode);
    const failed = mine.filter(({ failure }) => failure !== undefined).length;
    if (mine.length === 0) return "-";
    return failed === 0 ? `${mine.length}` : `${mine.length - failed}, ${failed} FAILED`;
  };
  const rows = [
    ["place", ...modes],
    ...places.map((at) => [at, ...modes.map((mode) => cell(at, mode))]),
  ];
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows
    .map((row) => row.map((text, column) => text.padEnd(widths?.[column] ?? 0)).join("  "))
    .join("\n");
}
