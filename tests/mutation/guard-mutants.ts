import { readFileSync } from "node:fs";
import { join } from "node:path";
import { changesOf, listedStates } from "../support/machine-changes.ts";

/** A mistake in the rules. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  /** The file's text with the mistake in it. */
  readonly text: string;
}

/** A question, where it stands, and its opposite. */
type Question = readonly [name: string, file: string, from: string, to: string];

const questions: readonly Question[] = [
  [
    "wallet-day: liesInAnotherDay",
    "actors/wallet-day.ts",
    "dayOf(instantOf(context, now)) !== context.day",
    "dayOf(instantOf(context, now)) === context.day",
  ],
  [
    "wallet-day: wasStarredAlready",
    "actors/wallet-day.ts",
    "earlierStar(context, star) !== undefined",
    "earlierStar(context, star) === undefined",
  ],
  [
    "wallet-day: usesTheLastVote",
    "actors/wallet-day.ts",
    "context.stars.length + 1 >= context.limit",
    "context.stars.length + 1 < context.limit",
  ],
  [
    "wallet-day: leavesNoVote",
    "actors/wallet-day.ts",
    "stars.length >= voteLimit(day, seasonId)",
    "!(stars.length >= voteLimit(day, seasonId))",
  ],
  [
    "wallet-day: leavesAVote",
    "actors/wallet-day.ts",
    "stars.length < voteLimit(day, seasonId)",
    "!(stars.length < voteLimit(day, seasonId))",
  ],
  [
    "wallet-day: a forever mint may repeat",
    "actors/wallet-day.ts",
    "if (mayRepeat(target.rule.scope))",
    "if (!mayRepeat(target.rule.scope))",
  ],
  [
    "mint-wallet: bringsTheBonus",
    "actors/mint-wallet.ts",
    "event.claims.b !== null",
    "event.claims.b === null",
  ],
  [
    "allowance: a pass makes it twenty",
    "actors/allowance.ts",
    "seasonId === null ? freeVotes",
    "seasonId !== null ? freeVotes",
  ],
  [
    "journal: a pass is in force while its season is on",
    "src/journal/load.ts",
    `starts_at <= \${instant} and \${instant} < ends_at`,
    `not (starts_at <= \${instant} and \${instant} < ends_at)`,
  ],
  [
    "journal: a star is stored under the pass of its instant",
    "migrations/004.do.cast-stars.sql",
    "starts_at <= offered.at and offered.at < ends_at",
    "not (starts_at <= offered.at and offered.at < ends_at)",
  ],
  [
    "accounting: a collection A serial has not counted",
    "actors/nft-accounting.ts",
    "holdings.collectionA.filter((serial) => counted.A[serial] === undefined)",
    "holdings.collectionA.filter((serial) => counted.A[serial] !== undefined)",
  ],
  [
    "accounting: a collection B serial is free",
    "actors/nft-accounting.ts",
    "holdings.collectionB.find((serial) => counted.B[serial] === undefined)",
    "holdings.collectionB.find((serial) => counted.B[serial] !== undefined)",
  ],
  [
    "weight: the bonus needs a collection B NFT",
    "actors/weight.ts",
    "holdings.collectionB.length > 0 ?",
    "holdings.collectionB.length <= 0 ?",
  ],
];

const MACHINES = ["wallet-day", "event-day", "forever-mint", "mint-wallet"];
const root = join(import.meta.dirname, "../..");

/**
 * Every question of the rules turned into its opposite, and every transition and state of the machines
 * taken away.
 *
 * @throws Error where a question no longer stands in its file, or stands there twice
 */
export function guardMutants(): readonly Mutant[] {
  return [...invertedQuestions(), ...MACHINES.flatMap(changedStates)];
}

function invertedQuestions(): readonly Mutant[] {
  return questions.map(([name, file, from, to]) => {
    const source = readFileSync(join(root, file), "utf8");
    if (source.split(from).length !== 2) throw new Error(`${name}: "${from}" is not there once`);
    return { name: `${name}, inverted`, file, text: source.replace(from, () => to) };
  });
}

/** Where a machine's first state and its states are written: plain data to the end of the machine. */
const WRITTEN = /^ {2}initial: "(\w+)",\n {2}states: ([\s\S]*?),\n\}\);/m;

function changedStates(machine: string): readonly Mutant[] {
  const file = `actors/${machine}.ts`;
  const source = readFileSync(join(root, file), "utf8");
  const [, initial = "", text = ""] = WRITTEN.exec(source) ?? [];
  const states = listedStates(new Function(`return (${text});`)());
  if (Object.keys(states).length === 0) throw new Error(`${file} has no states`);
  return changesOf(states, initial).map((change) => {
    const written = `  initial: "${change.initial}",\n  states: ${JSON.stringify(change.states)},\n});`;
    const name = `${machine}: ${change.name}`;
    return { name, file, text: source.replace(WRITTEN, () => written) };
  });
}
