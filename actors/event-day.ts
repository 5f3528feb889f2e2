import { assign, emit, setup } from "xstate";
import type { Day } from "./day.ts";
import { createDecider, type State } from "./decide.ts";
import type { Holdings } from "./holdings.ts";
import {
  bonusOf,
  type Claims,
  type Counted,
  countFresh,
  NOTHING_COUNTED,
  withClaims,
} from "./nft-accounting.ts";
import { BASE, type Breakdown, weigh } from "./weight.ts";

/**
 * One event (no forever mint) on one UTC day: which NFTs have already counted for it.
 * Named `event-day/<event>/2026-11-20`.
 *
 * **quiet** — nobody has starred the event today. Left by the first star.
 *
 * **counting** — stars add up. Never left: the next day is another actor.
 *
 * Every star adds the base 1 (the wallet-day actor lets one star per wallet through), one for
 * each collection A serial that has not counted for this event today, by any wallet, and the
 * flat bonus when it brings a collection B serial that was not spent here today.
 *
 * The machine may be given the whole day or a slice: only entries for serials the star brings
 * are looked at, so a slice with those alone decides the same. (One row per event and day
 * would make every voter of a busy event wait for every other.)
 */

export interface EventDayContext {
  readonly event: string;
  readonly day: Day;
  readonly weight: number;
  readonly stars: number;
  readonly counted: Counted;
}

export type EventDayInput = Pick<EventDayContext, "event" | "day">;
export type EventDayState = State<EventDayContext>;

/** A star that reaches an event, with what its wallet holds. */
export interface EventStar {
  readonly type: "star";
  readonly wallet: string;
  readonly holdings: Holdings;
}

/** What a star adds to an event's total, and which NFTs it uses up. */
export interface EventDecision {
  readonly type: "counted";
  readonly weight: number;
  readonly breakdown: Breakdown;
  readonly claims: Claims;
}

function decide(context: EventDayContext, star: EventStar): EventDecision {
  const claims = countFresh(star.holdings, context.counted);
  const breakdown: Breakdown = {
    base: BASE,
    collectionA: claims.a.length,
    collectionB: bonusOf(claims),
  };
  return { type: "counted", weight: weigh(breakdown), breakdown, claims };
}

export const eventDayMachine = setup({
  types: {
    context: {} as EventDayContext,
    input: {} as EventDayInput,
    events: {} as EventStar,
    emitted: {} as EventDecision,
  },
  actions: {
    announce: emit(({ context, event }) => decide(context, event)),
    count: assign(({ context, event }) => {
      const { weight, claims } = decide(context, event);
      return {
        weight: context.weight + weight,
        stars: context.stars + 1,
        counted: withClaims(context.counted, claims, event.wallet),
      };
    }),
  },
}).createMachine({
  id: "event-day",
  context: ({ input }) => ({ ...input, weight: 0, stars: 0, counted: NOTHING_COUNTED }),
  initial: "quiet",
  states: { quiet: {}, counting: {} },
  on: { star: { target: ".counting", actions: ["announce", "count"] } },
});

/** The machine as a pure function. */
export const eventDay = createDecider<EventDayInput, EventDayContext, EventStar, EventDecision>(
  eventDayMachine,
  { event: "", day: "1970-01-01" },
);
