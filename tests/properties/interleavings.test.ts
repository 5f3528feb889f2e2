// timeout: 300 s
/**
 * Goal: the accounting and the allowance hold in every interleaving. Method: three votes of
 * five steps each, run in all 15! / (5!)³ = 756,756 orders, with the real deciders over a
 * journal that has nothing but its unique keys; the end of each is judged by the invariants
 * and by the oracle, which gets the stars in the order of their commits. Equal moments are
 * merged; that merging loses no end is shown here by a sample run without it, and by
 * `npm run prove:interleavings` in full.
 */
import * as assert from "node:assert/strict";
import { parseArgs } from "node:util";
import { test } from "uvu";
import { type EventKind, type Target, type TargetType, targetOf } from "../../actors/content.ts";
import { endOfDay } from "../../actors/day.ts";
import type { Key } from "./journal.ts";
import { wrongWith } from "./judge.ts";
import { explore, type Moment, type Scenario, type Vote } from "./schedules.ts";

const ALL_SCHEDULES = 756_756;

const { values } = parseArgs({ options: { all: { type: "boolean" } }, strict: false });
/** Without merging, one of so many beginnings is followed. */
const ONE_OF = values.all ? 1 : 20;

const NOON = Date.parse("2026-11-20T12:00:00Z");
const MIDNIGHT = endOfDay("2026-11-20");
const item = (type: TargetType, id: string, eventKind: EventKind | null = null): Target =>
  targetOf({ type, id, eventKind, ledgerId: null });
const forever = item("event", "forever", "FOREVER_MINT");
const meetup = item("event", "meetup", "ECOSYSTEM_MEETUP");
const token = item("token", "0.0.9001");
const [ANN, BOB, CAT] = ["0.0.1001", "0.0.1002", "0.0.1003"] as const;

/** So many different items that a wallet has starred before. */
const used = (wallet: string, count: number): readonly Vote[] =>
  Array.from({ length: count }, (_, n) => ({ wallet, target: item("project", `p${n}`) }));

/** Ann sells an A and her B to Bob while all three votes are under way. */
const sale: Scenario["holdings"] = (wallet, steps) => {
  if (wallet === CAT) return { collectionA: [9], collectionB: [] };
  if (wallet === ANN) {
    return steps < 6
      ? { collectionA: [1, 2], collectionB: [1] }
      : { collectionA: [1], collectionB: [] };
  }
  return steps < 6
    ? { collectionA: [3], collectionB: [2] }
    : { collectionA: [2, 3], collectionB: [1, 2] };
};
/** All hold the same, as if each NFT moved on just in time to be read again. */
const everything = () => ({ collectionA: [1, 2], collectionB: [1, 2] });

const base = {
  earlier: [],
  passes: {},
  // Several steps share a millisecond.
  clock: (steps: number) => NOON + Math.floor(steps / 4),
  holdings: sale,
};

const mint: Scenario = {
  ...base,
  name: "one wallet twice on a forever mint, and the buyer of its NFTs",
  votes: [
    { wallet: ANN, target: forever },
    { wallet: ANN, target: forever },
    { wallet: BOB, target: forever },
  ],
  earlier: used(ANN, 3),
};

const scenarios: readonly Scenario[] = [
  mint,
  {
    ...mint,
    name: "one vote left for two stars",
    votes: [
      { wallet: ANN, target: forever },
      { wallet: ANN, target: meetup },
      { wallet: BOB, target: meetup },
    ],
    earlier: used(ANN, 4),
  },
  {
    ...mint,
    name: "one wallet twice on an event, and the buyer of its NFTs",
    votes: [
      { wallet: ANN, target: meetup },
      { wallet: ANN, target: meetup },
      { wallet: BOB, target: meetup },
    ],
  },
  {
    ...base,
    name: "three wallets bring the same NFTs to an event",
    votes: [ANN, BOB, CAT].map((wallet) => ({ wallet, target: meetup })),
    holdings: everything,
  },
  {
    ...base,
    name: "three wallets bring the same NFTs to a forever mint",
    votes: [ANN, BOB, CAT].map((wallet) => ({ wallet, target: forever })),
    holdings: everything,
  },
  {
    ...base,
    name: "three stars of one wallet with two votes left",
    votes: [forever, meetup, token].map((target) => ({ wallet: ANN, target })),
    earlier: used(ANN, 3),
    holdings: everything,
  },
  {
    ...mint,
    name: "midnight comes in the middle, on a spent day",
    votes: [
      { wallet: ANN, target: meetup },
      { wallet: ANN, target: meetup },
      { wallet: BOB, target: meetup },
    ],
    earlier: [...used(ANN, 4), ...used(BOB, 4)],
    clock: (steps) => MIDNIGHT - 3 + Math.floor(steps / 3),
  },
  {
    ...mint,
    name: "a season ends in the middle, with five votes used",
    earlier: used(ANN, 5),
    passes: { [ANN]: [{ seasonId: "s", startsAt: NOON - 1e9, endsAt: NOON + 2 }] },
  },
  {
    ...mint,
    name: "a season begins in the middle, with five votes used",
    earlier: used(ANN, 5),
    passes: { [ANN]: [{ seasonId: "s", startsAt: NOON + 2, endsAt: NOON + 1e9 }] },
  },
  {
    ...mint,
    name: "one wallet twice on a token, and another wallet",
    votes: [
      { wallet: ANN, target: token },
      { wallet: ANN, target: token },
      { wallet: BOB, target: token },
    ],
  },
];

/** What is wrong with the end of a schedule; null where nothing is. */
function faultOf({ scenario, journal, processes }: Moment): string | null {
  const answers = scenario.votes.map((vote, n) => {
    const process = processes[n];
    return { vote, answer: process?.next === "rest" ? process.answer : null };
  });
  return wrongWith({ scenario, journal, answers });
}

/** How a schedule ended, in one line. */
function endOf({ processes, journal }: Moment): string {
  const answers = processes.map((process) => {
    if (process.next !== "rest") return "open";
    const { answer } = process;
    return answer.kind === "accepted" ? `+${answer.star.weight}` : answer.decision.code;
  });
  return `${answers.join(", ")} (${journal.stars.length} stars)`;
}

/** Explores a scenario; the first wrong end is the failure. */
function prove(scenario: Scenario, merge: boolean, oneOf = 1): ReadonlySet<string> {
  const started = performance.now();
  const ends = new Set<string>();
  let attempts = 0;
  const { schedules, moments } = explore(scenario, {
    merge,
    oneOf,
    judge: (end) => {
      assert.equal(faultOf(end), null);
      for (const process of end.processes) {
        if (process.next === "rest") attempts = Math.max(attempts, process.attempts);
      }
      ends.add(endOf(end));
    },
  });
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  process.stdout.write(
    `${scenario.name}: ${schedules} schedules, ${moments} moments, ${ends.size} different ends, at most ${attempts} attempts, ${seconds} s\n`,
  );
  if (oneOf === 1) assert.equal(schedules, ALL_SCHEDULES);
  else assert.ok(schedules > 0.8 * (ALL_SCHEDULES / oneOf), `${schedules} schedules`);
  return ends;
}

const merged = new Map<Scenario, ReadonlySet<string>>();

/** The ends of a scenario with equal moments merged, explored once. */
function proveMerged(scenario: Scenario): ReadonlySet<string> {
  const ends = merged.get(scenario) ?? prove(scenario, true);
  merged.set(scenario, ends);
  return ends;
}

test(`one of ${ONE_OF} interleavings, each run to its end: ${mint.name}`, () => {
  const ends = prove(mint, false, ONE_OF);
  assert.ok(ends.size > 1, "the order matters");
  const all = proveMerged(mint);
  if (ONE_OF === 1) assert.deepEqual(ends, all, "merging equal moments loses no end");
  for (const end of ends) assert.ok(all.has(end), `merging lost: ${end}`);
});

for (const scenario of scenarios) {
  test(`all interleavings, equal moments merged: ${scenario.name}`, () => {
    proveMerged(scenario);
  });
}

/** Ends an exploration: what it looks for is found. */
class Found extends Error {}

/** The first fault of any interleaving over a journal without this key; null where there is none. */
function firstFaultWithout(key: Key): string | null {
  const judge = (end: Moment): void => {
    const fault = faultOf(end);
    if (fault !== null) throw new Found(fault);
  };
  try {
    for (const scenario of scenarios) {
      explore({ ...scenario, without: [key] }, { merge: true, judge });
    }
    return null;
  } catch (error) {
    if (error instanceof Found) return error.message;
    throw error;
  }
}

for (const key of ["slot", "claim"] satisfies Key[]) {
  test(`without the journal's ${key} key, some interleaving breaks a rule`, () => {
    const fault = firstFaultWithout(key);
    process.stdout.write(`without the ${key} key: ${fault}\n`);
    assert.notEqual(fault, null);
  });
}

test.run();
