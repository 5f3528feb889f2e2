import type { PremiumPass } from "../../actors/allowance.ts";
import { ruleOf, type Target } from "../../actors/content.ts";
import { type Day, dayOf } from "../../actors/day.ts";
import type { Holdings } from "../../actors/holdings.ts";
import type { HostedWalletDay } from "../../src/hosting/host.ts";
import { askWallet, propose } from "../../src/hosting/propose.ts";
import { ALL_FREE, claimReading, type Refusal } from "../../src/hosting/turn.ts";
import type { Slice } from "../../src/journal/load.ts";
import type { DecidedStar, StarRecord } from "../../src/journal/star-record.ts";
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
  | { readonly next: "read"; readonly hosted: HostedWalletDay }
  | Loading
  | (Omit<Loading, "next"> & {
      readonly next: "decide";
      readonly hosted: HostedWalletDay;
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
  readonly remembered: HostedWalletDay | null;
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

/** Whoever is not answered yet goes on, in lock step, so that second attempts race as well. */
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
  const load = () =>
    loadWalletDay(
      journal,
      { wallet: vote.wallet, day: dayOf(now) },
      scenario.passes[vote.wallet] ?? [],
    );
  switch (process.next) {
    case "ask":
      return [ask(vote, load(), now), journal];
    case "read": {
      const holdings = { ...scenario.holdings(vote.wallet, steps), readAt: now };
      return [{ next: "load", holdings, remembered: process.hosted, attempts: 0 }, journal];
    }
    case "load": {
      const { holdings, remembered } = process;
      const day = dayOf(now);
      const isToday = remembered?.state.context.day === day;
      const hosted = remembered !== null && isToday ? remembered : load();
      const attempts = process.attempts + 1;
      const slice = sliceFor(journal, { ...vote, holdings }, { day, attempt: attempts });
      return [{ ...process, next: "decide", hosted, slice, day, attempts }, journal];
    }
    case "decide":
      return [decideOnce(vote, process, now), journal];
    case "commit": {
      const options = { today: dayOf(now), without: scenario.without ?? [] };
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
  const { weight } = ruleOf(target);
  const reading = claimReading(target, attempt);
  if (reading !== "read") return reading === "none" ? null : ALL_FREE;
  const { collectionA: serialsA, collectionB: serialsB } = holdings;
  const day = weight === "each NFT once per mint" ? null : today;
  return loadSlice(journal, { event: target.id, day, wallet, serialsA, serialsB });
}

/** Asks before any network; nothing was remembered, so a refusal rests on the journal. */
function ask({ target }: Vote, hosted: HostedWalletDay, now: number): Process {
  const { decision } = askWallet(target, { hosted, now });
  if (decision.type === "accepted" || decision.code === "OTHER_DAY") {
    return { next: "read", hosted };
  }
  const answer = { kind: "refused", decision, now, holdings: NOTHING } as const;
  return { next: "rest", answer, attempts: 0 };
}

/**
 * Many schedules come to the same facts, and machines are pure: what was decided on them once
 * is not worked out again. (Without this, the same ends take four times as long.)
 */
function decideOnce(vote: Vote, process: Deciding, now: number): Process {
  const { hosted, ...facts } = process;
  const known = decidedOn.get(hosted.state) ?? new Map<string, Process>();
  decidedOn.set(hosted.state, known);
  const key = JSON.stringify([vote.target.id, hosted.passes, facts, now]);
  const decided = known.get(key) ?? decide(vote, process, now);
  known.set(key, decided);
  return decided;
}
const decidedOn = new WeakMap<HostedWalletDay["state"], Map<string, Process>>();

function decide(
  vote: Vote,
  { hosted, slice, day, holdings, attempts }: Deciding,
  now: number,
): Process {
  const { passes } = hosted;
  const answerBy = Number.POSITIVE_INFINITY;
  const intent = { ...vote, holdings, passes, idempotency: null, answerBy };
  const proposal = propose(intent, { hosted, slice, day, now }, () => "");
  if (proposal.kind === "proposed") {
    return { next: "commit", decided: proposal.decided, holdings, remembered: null, attempts };
  }
  const { decision } = proposal;
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

/**
 * Runs every order in which the votes' steps can follow each other, depth first.
 *
 * @param merge go on only once from moments that differ in nothing but random ids: the same
 *   schedules are covered, each moment's future is seen once
 * @param judge hears of the end of every schedule (with `merge`, of every different one)
 */
export function explore(
  scenario: Scenario,
  { merge, judge }: { readonly merge: boolean; readonly judge: (end: Moment) => void },
): Exploration {
  let moments = 0;
  const known = new Map<string, number>();
  const follow = (moment: Moment, left: readonly number[]): number => {
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
