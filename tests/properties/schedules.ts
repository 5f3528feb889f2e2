import type { Target } from "../../actors/content.ts";
import { type Day, dayOf } from "../../actors/day.ts";
import type { WalletDayState } from "../../actors/wallet-day.ts";
import type { Holdings } from "../../actors/weight.ts";
import { propose } from "../../src/hosting/propose.ts";
import { askFirst, type Refusal } from "../../src/hosting/turn.ts";
import { NO_CLAIMS, type Slice } from "../../src/journal/load.ts";
import type { DecidedStar, StarRecord } from "../../src/journal/star-record.ts";
import { type PremiumPass, seasonAt } from "../support/passes.ts";
import {
  commit,
  EMPTY_JOURNAL,
  type Journal,
  type Key,
  loadSlice,
  loadWalletDay,
} from "./journal.ts";

/**
 * Votes as the service takes them, cut into the five steps between which others may act: ask,
 * read holdings, load, decide, commit. A lost race goes back to load. Every vote runs in a
 * process of its own, so nothing but the journal stands between two votes of one wallet.
 * Moments are values: stepping on from one leaves it as it was, so schedules share beginnings.
 */

export interface Vote {
  readonly wallet: string;
  readonly target: Target;
}

export interface Scenario {
  readonly name: string;
  readonly votes: readonly Vote[];
  /** Stars that stood before the first step, cast by wallets that held nothing. */
  readonly earlier: readonly Vote[];
  readonly passes: Readonly<Record<string, readonly PremiumPass[]>>;
  /** Epoch milliseconds after so many steps. */
  readonly clock: (steps: number) => number;
  /** What a mirror node says of a wallet after so many steps. */
  readonly holdings: (wallet: string, steps: number) => Omit<Holdings, "readAt">;
  /** Unique keys that the journal fails to enforce. */
  readonly without?: readonly Key[];
}

export type Answer =
  | { readonly kind: "accepted"; readonly star: StarRecord }
  | {
      readonly kind: "refused";
      readonly decision: Refusal;
      readonly now: number;
      readonly holdings: Omit<Holdings, "readAt">;
    };

/** Where one vote stands. */
export type Process =
  | { readonly next: "ask" }
  | { readonly next: "read"; readonly asked: WalletDayState }
  | Loading
  | (Omit<Loading, "next"> & {
      readonly next: "decide";
      readonly state: WalletDayState;
      readonly slice: Slice | null;
      readonly day: Day;
    })
  | (Omit<Loading, "next"> & { readonly next: "commit"; readonly decided: DecidedStar })
  | { readonly next: "rest"; readonly answer: Answer; readonly attempts: number };

type Deciding = Extract<Process, { next: "decide" }>;
interface Loading {
  readonly next: "load";
  readonly holdings: Holdings;
  /** What the process remembers of the wallet-day; null when it must not be trusted. */
  readonly remembered: WalletDayState | null;
  readonly attempts: number;
}

export interface Moment {
  readonly scenario: Scenario;
  readonly steps: number;
  readonly journal: Journal;
  readonly processes: readonly Process[];
}

const NOTHING = { collectionA: [], collectionB: [] };
/** How long before the first step the earlier stars were cast. */
const EARLIER_MS = 60_000;

/** The moment before the first step: the earlier stars stand. */
export function begin(scenario: Scenario): Moment {
  const clock = () => scenario.clock(0) - EARLIER_MS;
  let journal = EMPTY_JOURNAL;
  for (const vote of scenario.earlier) {
    const past = { ...scenario, votes: [vote], clock, holdings: () => NOTHING };
    journal = settle({ scenario: past, steps: 0, journal, processes: [{ next: "ask" }] }).journal;
  }
  return { scenario, steps: 0, journal, processes: scenario.votes.map(() => ({ next: "ask" })) };
}

/** One step of one process; a vote that is answered rests. */
export function advance(moment: Moment, n: number): Moment {
  const process = moment.processes[n];
  const vote = moment.scenario.votes[n];
  if (process === undefined || vote === undefined) throw new RangeError(`no vote ${n}`);
  const [next, journal] = step(moment, vote, process);
  const processes = moment.processes.with(n, next);
  return { ...moment, journal, processes, steps: moment.steps + 1 };
}

/** A wallet that is not answered yet goes on, in lock step, so that second attempts race as well. */
export function settle(moment: Moment): Moment {
  let settling = moment;
  while (settling.processes.some(({ next }) => next !== "rest")) {
    for (const [n, { next }] of settling.processes.entries()) {
      if (next !== "rest") settling = advance(settling, n);
    }
    if (settling.steps > STEPS_MAX) throw new Error("votes do not come to an end");
  }
  return settling;
}
/** Three votes need 15 steps, and lose a handful of races at most. */
const STEPS_MAX = 100;

function step(
  { scenario, steps, journal }: Moment,
  vote: Vote,
  process: Process,
): readonly [Process, Journal] {
  const now = scenario.clock(steps);
  const passes = scenario.passes[vote.wallet] ?? [];
  const load = () =>
    loadWalletDay(journal, { wallet: vote.wallet, day: dayOf(now) }, seasonAt(now, passes));
  switch (process.next) {
    case "ask":
      return [ask(vote, load(), now), journal];
    case "read": {
      const holdings = { ...scenario.holdings(vote.wallet, steps), readAt: now };
      return [{ next: "load", holdings, remembered: process.asked, attempts: 0 }, journal];
    }
    case "load": {
      const { holdings, remembered } = process;
      const day = dayOf(now);
      const isToday = remembered?.context.day === day;
      const state = remembered !== null && isToday ? remembered : load();
      const attempts = process.attempts + 1;
      const slice = sliceFor(journal, { ...vote, holdings }, { day, attempt: attempts });
      return [{ ...process, next: "decide", state, slice, day, attempts }, journal];
    }
    case "decide":
      return [decideOnce(vote, process, now), journal];
    case "commit": {
      const seasonId = seasonAt(process.decided.star.at, passes);
      const options = { today: dayOf(now), seasonId, without: scenario.without ?? [] };
      const [written, outcome] = commit(journal, process.decided, options);
      const { holdings, attempts } = process;
      if (outcome !== "stored")
        return [{ next: "load", holdings, remembered: null, attempts }, journal];
      const answer = { kind: "accepted", star: process.decided.star } as const;
      return [{ next: "rest", answer, attempts }, written];
    }
    case "rest":
      return [process, journal];
  }
}

/** The claims on the NFTs a wallet brings; null where the target accounts for none. */
function sliceFor(
  journal: Journal,
  { wallet, target, holdings }: Vote & { readonly holdings: Holdings },
  { day: today, attempt }: { readonly day: Day; readonly attempt: number },
): Slice | null {
  const { scope } = target.rule;
  if (scope === "none") return null;
  if (scope === "event-day" && attempt === 1) return NO_CLAIMS;
  const { collectionA: serialsA, collectionB: serialsB } = holdings;
  const day = scope === "forever-mint" ? null : today;
  return loadSlice(journal, { event: target.id, day, wallet, serialsA, serialsB });
}

/** Asks before any network; nothing was remembered, so a refusal rests on the journal. */
function ask({ target }: Vote, state: WalletDayState, now: number): Process {
  const decision = askFirst(state, target, now);
  if (decision === null) return { next: "read", asked: state };
  const answer = { kind: "refused", decision, now, holdings: NOTHING } as const;
  return { next: "rest", answer, attempts: 0 };
}

/**
 * Many schedules come to the same facts, and machines are pure: what was decided on them once
 * is not worked out again. (Without this, the same ends take four times as long.)
 */
function decideOnce(vote: Vote, process: Deciding, now: number): Process {
  const { state, ...facts } = process;
  const known = decidedOn.get(state) ?? new Map<string, Process>();
  decidedOn.set(state, known);
  const key = JSON.stringify([vote.target.id, facts, now]);
  const decided = known.get(key) ?? decide(vote, process, now);
  known.set(key, decided);
  return decided;
}
const decidedOn = new WeakMap<WalletDayState, Map<string, Process>>();

function decide(vote: Vote, { state, slice, holdings, attempts }: Deciding, now: number): Process {
  const { seasonId } = state.context;
  const answerBy = Number.POSITIVE_INFINITY;
  const intent = { ...vote, holdings, seasonId, idempotency: null, answerBy };
  const decision = propose(intent, { state, slice, now }, () => "");
  if (!("type" in decision)) {
    return { next: "commit", decided: decision, holdings, remembered: null, attempts };
  }
  if (decision.code === "OTHER_DAY") {
    return { next: "load", holdings, remembered: null, attempts };
  }
  return { next: "rest", answer: { kind: "refused", decision, now, holdings }, attempts };
}

export interface Exploration {
  /** Schedules whose end was judged. */
  readonly schedules: number;
  /** Moments that were stepped to. */
  readonly moments: number;
}

/** A vote that loses no race is answered by its fifth step. */
const STEPS_EACH = 5;
/** After so many steps a schedule is one of the sample, or not: 3⁶ beginnings less three. */
const SAMPLED_AFTER = 6;

export interface ExploreOptions {
  /**
   * Go on only once from moments that differ in nothing but random ids: the same schedules are
   * covered, each moment's future is seen once.
   */
  readonly merge: boolean;
  /** Follow one of so many beginnings, evenly spread; all if absent. */
  readonly oneOf?: number;
  /** Hears of the end of every schedule (with `merge`, of every different one). */
  readonly judge: (end: Moment) => void;
}

/** Runs every order in which the votes' steps can follow each other, depth first. */
export function explore(
  scenario: Scenario,
  { merge, oneOf = 1, judge }: ExploreOptions,
): Exploration {
  let moments = 0;
  let beginnings = 0;
  const known = new Map<string, number>();
  const follow = (moment: Moment, left: readonly number[]): number => {
    if (moment.steps === SAMPLED_AFTER && beginnings++ % oneOf !== 0) return 0;
    moments += 1;
    if (left.every((steps) => steps === 0)) {
      judge(settle(moment));
      return 1;
    }
    const key = merge ? keyOf(moment, left) : "";
    const before = merge ? known.get(key) : undefined;
    if (before !== undefined) return before;
    let schedules = 0;
    for (const [n, steps] of left.entries()) {
      if (steps > 0) schedules += follow(advance(moment, n), left.with(n, steps - 1));
    }
    if (merge) known.set(key, schedules);
    return schedules;
  };
  const schedules = follow(
    begin(scenario),
    scenario.votes.map(() => STEPS_EACH),
  );
  return { schedules, moments };
}

const STAR_ID = /^[0-9a-f]{8}-/;

/** All that decides what comes after: everything but the stars' random ids. */
function keyOf({ journal: { stars, totals }, processes }: Moment, left: readonly number[]): string {
  return JSON.stringify([left, processes, stars, totals], (_, value: unknown) =>
    typeof value === "string" && STAR_ID.test(value) ? "" : value,
  );
}
