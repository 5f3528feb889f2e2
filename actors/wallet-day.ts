import { assign, emit, setup } from "xstate";
import { type Day, dayOf } from "./day.ts";
import { createDecider, type State } from "./decide.ts";
import type { StarIntent, WalletDecision } from "./star.ts";

/**
 * One wallet on one UTC day: its allowance, and once per item. Named
 * `wallet-day/0.0.n/2026-11-20`. A new day is a new actor, so nothing ever resets.
 *
 * **fresh** — no star yet today. Entered by being named. Left by the first accepted star.
 *
 * **voting** — stars given, votes left when the last one was accepted. Left for *spent* by the
 * star that uses the last vote.
 *
 * **spent** — the last accepted star used the last vote of its limit. A later star is still
 * asked the same questions, because the limit comes with each star: a pass bought meanwhile
 * opens the day again (back to *voting*), and a pass that ended closes *voting* early.
 *
 * In every state a star is asked, in this order: does its instant lie in this day (else
 * `OTHER_DAY`), was this item starred already (`ALREADY_STARRED`; forever mints may repeat),
 * is a vote left (`ALLOWANCE_EXHAUSTED`). A refusal changes nothing and spends nothing.
 *
 * Invariants: stars only grow; their number is the actor's version; instants strictly rise.
 */

/** A star of this day, as far as the rules need it. */
export interface DayStar {
  readonly id: string;
  readonly target: string;
  readonly at: number;
}

export interface WalletDayContext {
  readonly wallet: string;
  readonly day: Day;
  readonly stars: readonly DayStar[];
}

export type WalletDayInput = Pick<WalletDayContext, "wallet" | "day">;
export type WalletDayState = State<WalletDayContext>;

/**
 * The instant a star cast now would get: "the next millisecond if equal", so that (wallet,
 * target, timestamp) is unique on the ledger. The limit is the one of this instant.
 */
export function instantOf(context: WalletDayContext, now: number): number {
  const last = context.stars.at(-1);
  return last === undefined ? now : Math.max(now, last.at + 1);
}

function earlierStar(context: WalletDayContext, event: StarIntent): DayStar | undefined {
  return event.repeatable ? undefined : context.stars.find((star) => star.target === event.target);
}

export const walletDayMachine = setup({
  types: {
    context: {} as WalletDayContext,
    input: {} as WalletDayInput,
    events: {} as StarIntent,
    emitted: {} as WalletDecision,
  },
  guards: {
    liesInAnotherDay: ({ context, event }) => dayOf(instantOf(context, event.now)) !== context.day,
    wasStarredAlready: ({ context, event }) => earlierStar(context, event) !== undefined,
    hasNoVoteLeft: ({ context, event }) => context.stars.length >= event.limit,
    isLastVote: ({ context, event }) => context.stars.length + 1 >= event.limit,
  },
  actions: {
    refuseOtherDay: emit({ type: "refused", code: "OTHER_DAY" }),
    refuseRepeat: emit(({ context, event }) => ({
      type: "refused",
      code: "ALREADY_STARRED",
      starId: earlierStar(context, event)?.id ?? "",
    })),
    refuseExhausted: emit(({ context, event }) => ({
      type: "refused",
      code: "ALLOWANCE_EXHAUSTED",
      limit: event.limit,
      used: context.stars.length,
    })),
    announce: emit(({ context, event }) => ({
      type: "accepted",
      slot: context.stars.length + 1,
      at: instantOf(context, event.now),
    })),
    record: assign(({ context, event }) => ({
      stars: [
        ...context.stars,
        { id: event.starId, target: event.target, at: instantOf(context, event.now) },
      ],
    })),
  },
}).createMachine({
  id: "wallet-day",
  context: ({ input }) => ({ wallet: input.wallet, day: input.day, stars: [] }),
  initial: "fresh",
  states: { fresh: {}, voting: {}, spent: {} },
  on: {
    star: [
      { guard: "liesInAnotherDay", actions: "refuseOtherDay" },
      { guard: "wasStarredAlready", actions: "refuseRepeat" },
      { guard: "hasNoVoteLeft", actions: "refuseExhausted" },
      // Announced first: the decision is made from the state before this star.
      { guard: "isLastVote", target: ".spent", actions: ["announce", "record"] },
      { target: ".voting", actions: ["announce", "record"] },
    ],
  },
});

/** The machine as a pure function. */
export const walletDay = createDecider<
  WalletDayInput,
  WalletDayContext,
  StarIntent,
  WalletDecision
>(walletDayMachine, { wallet: "0.0.1", day: "1970-01-01" });

/** The actor's version: how many stars it has accepted. */
export function walletDayVersion(state: WalletDayState): number {
  return state.context.stars.length;
}

/** The actor's public name. */
export function walletDayId(wallet: string, day: Day): string {
  return `wallet-day/${wallet}/${day}`;
}
