import { assertEvent, assign, emit, setup } from "xstate";
import { type Day, dayOf } from "./day.ts";
import { decideEvolve, type State } from "./decide-evolve.ts";
import { counted, type EventDecision, type EventStar, type EventStarred } from "./event-day.ts";
import { type Counted, countFresh } from "./nft-accounting.ts";
import { rulesOn } from "./rules.ts";

/**
 * One wallet on one forever mint: "a wallet's star counts once".
 *
 * **unstarred** — the wallet has not starred the mint. Its star adds the base. Left by that star,
 * for *carrying* where it brings the flat bonus, else for *counted*.
 *
 * **counted** — the base has counted and none of the wallet's NFTs carries the flat bonus. A star
 * adds only NFTs that are attributed to no wallet. Left for *carrying* by a star that brings the bonus.
 *
 * **carrying** — one of the wallet's collection B NFTs carries the flat bonus. A star adds no
 * second one. Left for *counted* when the daily check finds the carrier gone and no other NFT
 * takes its place.
 *
 * Commands: `star`. Facts: `starred`, which moves the date of the wallet's vote, and `bonusLost`.
 */

export interface MintWalletContext {
  /** "Starring again … moves the date of that vote to today." Null before the first star. */
  readonly votedOn: Day | null;
}

export type Standing = "unstarred" | "counted" | "carrying";
export type MintWalletState = State<MintWalletContext>;

/** A star of the wallet, with the attributions of the serials it brings. */
export interface MintWalletStar extends EventStar {
  readonly counted: Counted;
}

/** The carrier of the wallet's flat bonus is gone. */
export interface BonusLost {
  readonly type: "bonusLost";
}

type Event = MintWalletStar | EventStarred | BonusLost;

export const mintWalletMachine = setup({
  types: {
    context: {} as MintWalletContext,
    events: {} as Event,
    emitted: {} as EventDecision,
  },
  guards: {
    bringsTheBonus: ({ event }) => event.type === "starred" && event.claims.b !== null,
  },
  actions: {
    countWithBase: emit(({ event }) => {
      assertEvent(event, "star");
      const { base } = rulesOn(dayOf(event.at));
      return counted(countFresh(event.holdings, event.counted), base, event.at);
    }),
    countAgain: emit(({ event }) => {
      assertEvent(event, "star");
      return counted(countFresh(event.holdings, event.counted), 0, event.at);
    }),
    countWithoutBonus: emit(({ event }) => {
      assertEvent(event, "star");
      return counted({ ...countFresh(event.holdings, event.counted), b: null }, 0, event.at);
    }),
    moveDate: assign(({ event }) => {
      assertEvent(event, "starred");
      return { votedOn: dayOf(event.at) };
    }),
  },
}).createMachine({
  id: "mint-wallet",
  context: { votedOn: null },
  initial: "unstarred",
  states: {
    unstarred: {
      on: {
        star: { actions: "countWithBase" },
        starred: [
          { guard: "bringsTheBonus", target: "carrying", actions: "moveDate" },
          { target: "counted", actions: "moveDate" },
        ],
      },
    },
    counted: {
      on: {
        star: { actions: "countAgain" },
        starred: [
          { guard: "bringsTheBonus", target: "carrying", actions: "moveDate" },
          { actions: "moveDate" },
        ],
      },
    },
    carrying: {
      on: {
        star: { actions: "countWithoutBonus" },
        starred: { actions: "moveDate" },
        bonusLost: "counted",
      },
    },
  },
});

/** The machine as two pure functions. */
export const mintWallet = decideEvolve<
  undefined,
  MintWalletContext,
  MintWalletStar,
  EventDecision,
  EventStarred | BonusLost
>(mintWalletMachine, undefined);

/** A wallet that has not starred a mint. */
export const UNSTARRED: MintWalletState = mintWallet.initial(undefined);
