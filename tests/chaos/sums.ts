import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Violation } from "./check.ts";

/** What all runs on a folder add up to. */
export interface Counts {
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
}

/** The newest check of the whole history. */
export interface Checked {
  readonly acknowledged: number;
  readonly givenUp: number;
  readonly messages: number;
  readonly violations: Readonly<Partial<Record<Violation["kind"], number>>>;
}

export interface Sums {
  counts: Counts;
  checked: Checked | null;
}

const NOTHING: Counts = {
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
};

export function readSums(folder: string): Sums {
  const file = join(folder, "sums.json");
  if (!existsSync(file)) return { counts: structuredClone(NOTHING), checked: null };
  const sums = JSON.parse(readFileSync(file, "utf8")) as Sums;
  return { ...sums, counts: { ...structuredClone(NOTHING), ...sums.counts } };
}

export function writeSums(folder: string, sums: Sums): void {
  const file = join(folder, "sums.json");
  writeFileSync(`${file}.new`, JSON.stringify(sums, null, 2));
  renameSync(`${file}.new`, file);
}

/** The sums as lines of text. */
export function reportOf({ counts, checked }: Sums): string {
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
    `${minutes.toFixed(1)} minutes in ${runs} runs`,
    `SIGKILLs ${counts.kills}, 35 s pauses ${counts.freezes}, Postgres kills ${counts.postgresKills}, FLUSHALLs ${counts.flushes}, cuts ${counts.cuts}, restores ${counts.restores}`,
    `calls ${counts.calls}, accepted ${share} %, others: ${refused.join(", ")}`,
    `answers over 3.5 s ${counts.late}, slowest ${seconds(counts.slowestMs)}, 5xx other than 503 ${counts.errors}`,
    `faults after which no star was accepted within 5 s: ${counts.lateBack}; processes that ended by themselves: ${counts.ownEnds}`,
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
