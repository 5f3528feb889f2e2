import { assertEvent, assign, emit, setup } from "xstate";
import { voteLimit } from "./allowance.ts";
import { mayRepeat, type Target } from "./content.ts";
import { type Day, dayOf } from "./day.ts";
import { decideEvolve, type State } from "./decide-evolve.ts";

/**
 * One wallet on one UTC day: its allowance, and once per item. Named
 * `wallet-day/0.0.n/2026-11-20`. A new day is a new actor, so nothing ever resets.
 *
 * **open** — a vote is left. A star is accepted unless its instant lies in another day or its
 * item was starred today (forever mints may repeat). Left for *spent* by the star that uses the
 * last vote, and by a limit that leaves none.
 *
 * **spent** — no vote is left. A star is refused: as a repeat where it is one, else for want of
 * votes. Left for *open* by a limit that leaves a vote: a pass was granted or its season began.
 *
 * Commands: `star`. Facts: `starred` (a star of the day stands in the journal) and `limitSet` (the
 * pass in force is another one than before).
 *
 * Invariants: stars only grow; their number is the actor's version; instants strictly rise.
 */

/** A star of this day, as far as the rules need it. */
export interface DayStar {
  readonly id: string;
  /** The target's key. */
  readonly target: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A star of the day stands in the journal. */
export interface Starred extends DayStar {
  readonly type: "starred";
}

/** Another pass is in force, or none. */
export interface LimitSet {
  readonly type: "limitSet";
  /** The season of the pass; null without one. */
  readonly seasonId: string | null;
}

export interface WalletDayContext {
  readonly wallet: string;
  readonly day: Day;
  readonly stars: readonly DayStar[];
  /** How many votes the day holds, and the season of the pass that says so. */
  readonly limit: number;
  readonly seasonId: string | null;
}

/** Names a wallet's actor of one UTC day. */
export type WalletDayKey = Pick<WalletDayContext, "wallet" | "day">;
export type WalletDayState = State<WalletDayContext>;
export type WalletDayFact = Starred | LimitSet;

/**
 * The instant a star cast now gets: "the next millisecond if equal", so that (wallet, target,
 * timestamp) is unique on the ledger.
 */
export function instantOf({ stars }: WalletDayContext, now: number): number {
  const last = stars.at(-1);
  return last === undefined ? now : Math.max(now, last.at + 1);
}

function earlierStar({ stars }: WalletDayContext, { target }: StarCommand): DayStar | undefined {
  if (mayRepeat(target.rule.scope)) return undefined;
  return stars.find((star) => star.target === target.key);
}

type Step<Event> = { readonly context: WalletDayContext; readonly event: Event };
/** The commands and facts a guard or an action is written for; the machine sends it no others. */
const ofStar =
  <Result>(say: (context: WalletDayContext, command: StarCommand) => Result) =>
  ({ context, event }: Step<StarCommand | WalletDayFact>): Result => {
    assertEvent(event, "star");
    return say(context, event);
  };
const ofLimit =
  <Result>(say: (context: WalletDayContext, fact: LimitSet) => Result) =>
  ({ context, event }: Step<StarCommand | WalletDayFact>): Result => {
    assertEvent(event, "limitSet");
    return say(context, event);
  };

export const walletDayMachine = setup({
  types: {
    context: {} as WalletDayContext,
    input: {} as WalletDayKey,
    events: {} as StarCommand | WalletDayFact,
    emitted: {} as WalletDecision,
  },
  guards: {
    liesInAnotherDay: ofStar((context, { now }) => dayOf(instantOf(context, now)) !== context.day),
    wasStarredAlready: ofStar((context, star) => earlierStar(context, star) !== undefined),
    usesTheLastVote: ({ context }) => context.stars.length + 1 >= context.limit,
    leavesNoVote: ofLimit(
      ({ day, stars }, { seasonId }) => stars.length >= voteLimit(day, seasonId),
    ),
    leavesAVote: ofLimit(({ day, stars }, { seasonId }) => stars.length < voteLimit(day, seasonId)),
  },
  actions: {
    refuseOtherDay: emit({ type: "refused", code: "OTHER_DAY" }),
    refuseRepeat: emit(
      ofStar((context, star) => ({
        type: "refused",
        code: "ALREADY_STARRED",
        starId: earlierStar(context, star)?.id ?? "",
      })),
    ),
    refuseExhausted: emit(({ context }) => ({
      type: "refused",
      code: "ALLOWANCE_EXHAUSTED",
      limit: context.limit,
      used: context.stars.length,
    })),
    accept: emit(
      ofStar((context, { now }) => ({
        type: "accepted",
        slot: context.stars.length + 1,
        at: instantOf(context, now),
        limit: context.limit,
        seasonId: context.seasonId,
      })),
    ),
    record: assign(({ context, event }) => {
      assertEvent(event, "starred");
      const { id, target, at } = event;
      return { stars: [...context.stars, { id, target, at }] };
    }),
    setLimit: assign(
      ofLimit(({ day }, { seasonId }) => ({ seasonId, limit: voteLimit(day, seasonId) })),
    ),
  },
}).createMachine({
  id: "wallet-day",
  context: ({ input: { wallet, day } }) => ({
    wallet,
    day,
    stars: [],
    limit: voteLimit(day, null),
    seasonId: null,
  }),
  initial: "open",
  states: {
    open: {
      on: {
        star: [
          { guard: "liesInAnotherDay", actions: "refuseOtherDay" },
          { guard: "wasStarredAlready", actions: "refuseRepeat" },
          { actions: "accept" },
        ],
        starred: [
          { guard: "usesTheLastVote", target: "spent", actions: "record" },
          { actions: "record" },
        ],
        limitSet: [
          { guard: "leavesNoVote", target: "spent", actions: "setLimit" },
          { actions: "setLimit" },
        ],
      },
    },
    spent: {
      on: {
        star: [
          { guard: "liesInAnotherDay", actions: "refuseOtherDay" },
          { guard: "wasStarredAlready", actions: "refuseRepeat" },
          { actions: "refuseExhausted" },
        ],
        // A journal read back gives its stars first and the pass in force last.
        starred: { actions: "record" },
        limitSet: [
          { guard: "leavesAVote", target: "open", actions: "setLimit" },
          { actions: "setLimit" },
        ],
      },
    },
  },
});

/** The machine as two pure functions. */
export const walletDay = decideEvolve<
  WalletDayKey,
  WalletDayContext,
  StarCommand,
  WalletDecision,
  WalletDayFact
>(walletDayMachine, { wallet: "0.0.1", day: "1970-01-01" });

/**
 * The actor as facts make it: the journal's, a snapshot's, or one star's more.
 *
 * @param seasonId of the pass in force now; null without one
 */
export function foldWalletDay(
  input: WalletDayKey,
  stars: readonly DayStar[],
  seasonId: string | null,
): WalletDayState {
  let state = walletDay.initial(input);
  for (const { id, target, at } of stars) {
    state = walletDay.evolve(state, { type: "starred", id, target, at });
  }
  return underPass(state, seasonId);
}

/** The actor under the pass in force now: the limit is never remembered from before. */
export function underPass(state: WalletDayState, seasonId: string | null): WalletDayState {
  const isSame = state.context.seasonId === seasonId;
  return isSame ? state : walletDay.evolve(state, { type: "limitSet", seasonId });
}

/** A wallet wants to star something: a command of its wallet-day. */
export interface StarCommand {
  readonly type: "star";
  readonly target: Pick<Target, "key" | "rule">;
  /** Epoch milliseconds by the one clock. */
  readonly now: number;
}

/** What the wallet-day actor decides. */
export type WalletDecision =
  | {
      readonly type: "accepted";
      /** Which star of the day this is, from 1: also the actor's version once it is stored. */
      readonly slot: number;
      /** The star's instant: `now`, or the millisecond after the wallet's last star. */
      readonly at: number;
      /** How many votes the day holds, and the season of the pass that says so. */
      readonly limit: number;
      readonly seasonId: string | null;
    }
  | { readonly type: "refused"; readonly code: "ALREADY_STARRED"; readonly starId: string }
  | {
      readonly type: "refused";
      readonly code: "ALLOWANCE_EXHAUSTED";
      readonly limit: number;
      readonly used: number;
    }
  /** The instant lies in another UTC day: ask that day's actor. Never shown to a voter. */
  | { readonly type: "refused"; readonly code: "OTHER_DAY" };
