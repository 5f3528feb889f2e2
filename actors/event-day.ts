import { assertEvent, assign, emit, setup } from "xstate";
import { type Day, dayOf } from "./day.ts";
import { decideEvolve, type State } from "./decide-evolve.ts";
import {
  type Claims,
  type Counted,
  countFresh,
  NOTHING_COUNTED,
  withClaims,
} from "./nft-accounting.ts";
import { rulesOn } from "./rules.ts";
import { type Breakdown, type Holdings, weigh } from "./weight.ts";

/**
 * One event (no forever mint) on one UTC day: which NFTs have already counted for it.
 * Named `event-day/<event>/2026-11-20`.
 *
 * **counting** — the one state: no star changes which stars are taken, only what the next ones
 * add. Never left: the next day is another actor.
 *
 * Every star adds the base (the wallet-day actor lets one star per wallet through), one for
 * each collection A serial that has not counted for this event today, by any wallet, and the
 * flat bonus when it brings a collection B serial that was not spent here today.
 *
 * Commands: `star`. Facts: `starred`.
 *
 * The machine is given the whole day or a slice: only entries for serials the star brings
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

/** Names an event's actor of one UTC day. */
export type EventDayKey = Pick<EventDayContext, "event" | "day">;
export type EventDayState = State<EventDayContext>;

/** A star reaches an event: a command of its actor. */
export interface EventStar {
  readonly type: "star";
  readonly wallet: string;
  readonly holdings: Holdings;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What a star adds to an event's total, and which NFTs it uses up. */
export interface EventDecision {
  readonly type: "counted";
  readonly weight: number;
  readonly breakdown: Breakdown;
  readonly claims: Claims;
}

/** A star of the event stands in the journal. */
export interface EventStarred {
  readonly type: "starred";
  readonly starId: string;
  readonly wallet: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly weight: number;
  readonly claims: Claims;
}

/** The decision that counts these claims, with or without the base. */
export function counted(claims: Claims, base: number, at: number): EventDecision {
  const breakdown: Breakdown = {
    base,
    collectionA: claims.a.length,
    collectionB: claims.b === null ? 0 : rulesOn(dayOf(at)).flatBonus,
  };
  return { type: "counted", weight: weigh(breakdown), breakdown, claims };
}

export const eventDayMachine = setup({
  types: {
    context: {} as EventDayContext,
    input: {} as EventDayKey,
    events: {} as EventStar | EventStarred,
    emitted: {} as EventDecision,
  },
  actions: {
    count: emit(({ context, event }) => {
      assertEvent(event, "star");
      const { holdings, at } = event;
      return counted(countFresh(holdings, context.counted), rulesOn(context.day).base, at);
    }),
    record: assign(({ context, event }) => {
      assertEvent(event, "starred");
      const { weight, claims, wallet, starId, at } = event;
      return {
        weight: context.weight + weight,
        stars: context.stars + 1,
        counted: withClaims(context.counted, claims, { wallet, starId, at }),
      };
    }),
  },
}).createMachine({
  id: "event-day",
  context: ({ input: { event, day } }) => ({
    event,
    day,
    weight: 0,
    stars: 0,
    counted: NOTHING_COUNTED,
  }),
  initial: "counting",
  states: { counting: { on: { star: { actions: "count" }, starred: { actions: "record" } } } },
});

/** The machine as two pure functions. */
export const eventDay = decideEvolve<
  EventDayKey,
  EventDayContext,
  EventStar,
  EventDecision,
  EventStarred
>(eventDayMachine, { event: "", day: "1970-01-01" });
