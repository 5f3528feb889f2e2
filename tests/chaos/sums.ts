import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Violation } from "./check.ts";

/** What all runs on a folder add up to. */
export interface Counts {
  /** From the first star to the end of the check. */
  minutes: number;
  runs: number;
  kills: number;
  freezes: number;
  postgresKills: number;
  flushes: number;
  cuts: number;
  restores: number;
  /** Stars that recoveries brought back. */
  recovered: number;
  slowestRecoverMs: number;
  calls: number;
  accepted: number;
  late: number;
  slowestMs: number;
  errors: number;
  /** Faults after whose end no star was accepted within 5 s. */
  lateBack: number;
  /** By the faults' names. */
  faults: Record<string, { times: number; slowestBackMs: number }>;
  refused: Record<string, number>;
  /** Processes that ended by themselves. */
  ownEnds: number;
  /** Errors in their logs that only a mistake in the code throws. */
  mistakes: number;
}

/** The newest check of the whole history. */
export interface Checked {
  readonly acknowledged: number;
  readonly givenUp: number;
  readonly messages: number;
  readonly violations: Readonly<Partial<Record<Violation["kind"], number>>>;
}

export interface Sums {
  /** Of runs that show something. */
  counts: Counts;
  /** Runs that show nothing: under half of their calls were accepted. */
  invalid: number;
  checked: Checked | null;
}

const NOTHING: Readonly<Counts> = {
  minutes: 0,
  runs: 0,
  kills: 0,
  freezes: 0,
  postgresKills: 0,
  flushes: 0,
  cuts: 0,
  restores: 0,
  recovered: 0,
  slowestRecoverMs: 0,
  calls: 0,
  accepted: 0,
  late: 0,
  slowestMs: 0,
  errors: 0,
  lateBack: 0,
  faults: {},
  refused: {},
  ownEnds: 0,
  mistakes: 0,
};

export function readSums(folder: string): Sums {
  const file = join(folder, "sums.json");
  if (!existsSync(file)) return { counts: noCounts(), invalid: 0, checked: null };
  // JSON has no infinity: a service that never came back is kept as null.
  const { counts, invalid, checked } = JSON.parse(readFileSync(file, "utf8"), (name, value) =>
    name.startsWith("slowest") ? (value ?? Number.POSITIVE_INFINITY) : value,
  ) as Sums;
  // An older run counted less.
  return { counts: addCounts(noCounts(), counts), invalid: invalid ?? 0, checked };
}

export function noCounts(): Counts {
  return structuredClone(NOTHING);
}

/** Two runs' counts together: amounts add up, of slowest times the larger stays. */
export function addCounts(one: Counts, other: Counts): Counts {
  return added(one, other) as Counts;
}

type Amounts = { readonly [name: string]: number | Amounts };

function added(one: object, other: object): object {
  const [ours, theirs] = [one as Amounts, other as Amounts];
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
  const sums = [...names].map((name) => {
    const [a = 0, b = 0] = [ours[name], theirs[name]];
    if (typeof a === "number" && typeof b === "number") {
      return [name, name.startsWith("slowest") ? Math.max(a, b) : a + b] as const;
    }
    return [name, added(Object(a), Object(b))] as const;
  });
  return Object.fromEntries(sums);
}

export function writeSums(folder: string, sums: Sums): void {
  const file = join(folder, "sums.json");
  writeFileSync(`${file}.new`, JSON.stringify(sums, null, 2));
  renameSync(`${file}.new`, file);
}

/** The sums as lines of text. */
export function reportOf({ counts, invalid, checked }: Sums): string {
  const { minutes, runs } = counts;
  const share = counts.calls === 0 ? 0 : Math.round((100 * counts.accepted) / counts.calls);
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const wrong = (kind: Violation["kind"]): number => checked?.violations[kind] ?? 0;
  const faults = Object.entries(counts.faults)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(
      ([name, { times, slowestBackMs }]) =>
        `  ${name}: ${times}, back within ${seconds(slowestBackMs)}`,
    );
  const refused = Object.entries(counts.refused)
    .sort(([, one], [, other]) => other - one)
    .map(([code, times]) => `${code} ${times}`);
  return [
    `${minutes.toFixed(1)} minutes in ${runs} runs; invalid, and not counted: ${invalid}`,
    `SIGKILLs ${counts.kills}, 35 s pauses ${counts.freezes}, Postgres kills ${counts.postgresKills}, FLUSHALLs ${counts.flushes}, cuts ${counts.cuts}, restores ${counts.restores}`,
    `calls ${counts.calls}, accepted ${share} %, others: ${refused.join(", ")}`,
    `answers over 3.5 s ${counts.late}, slowest ${seconds(counts.slowestMs)}, 5xx other than 503 ${counts.errors}`,
    `faults after which no star was accepted within 5 s: ${counts.lateBack}; processes that ended by themselves: ${counts.ownEnds}; mistakes in the code: ${counts.mistakes}`,
    `recovered ${counts.recovered} stars, slowest recovery ${seconds(counts.slowestRecoverMs)}`,
    ...faults,
    checked === null
      ? "not checked yet"
      : `acknowledged ${checked.acknowledged}, messages ${checked.messages}, lost ${wrong("lost")}, double ${wrong("double")}, phantom ${wrong("phantom")}, over allowance ${wrong("over allowance")}, given up with a restore before they had a message ${checked.givenUp}`,
    ...Object.entries(checked?.violations ?? {}).map(
      ([kind, times]) => `VIOLATION ${kind}: ${times}`,
    ),
  ].join("\n");
}
