import type { Target } from "../../actors/content.ts";
import type { EventDecision, EventStar } from "../../actors/event-day.ts";
import {
  type ForeverMintInput,
  type ForeverMintState,
  foreverMint,
  foreverMintCheck,
  type HoldingsLost,
  type LossDecision,
} from "../../actors/forever-mint.ts";
import {
  type WalletDayKey,
  type WalletDayState,
  type WalletDecision,
  walletDay,
} from "../../actors/wallet-day.ts";

/**
 * A command and, where it is accepted, its fact: what a turn does before and after its commit, for
 * tests that play whole histories through the machines.
 */
export interface Steps<Input, State, Command, Decision> {
  initial(input: Input): State;
  step(state: State, command: Command): readonly [State, Decision];
}

/** A star of a wallet's day, under the pass in force. */
export interface WalletStar {
  readonly starId: string;
  readonly target: Pick<Target, "key" | "rule">;
  readonly now: number;
  /** Of the pass in force; null without one. */
  readonly seasonId: string | null;
}

export const walletDaySteps = (
  logic: typeof walletDay = walletDay,
): Steps<WalletDayKey, WalletDayState, WalletStar, WalletDecision> => ({
  initial: logic.initial,
  step(before, { starId: id, target, now, seasonId }) {
    const state =
      before.context.seasonId === seasonId
        ? before
        : logic.evolve(before, { type: "limitSet", seasonId });
    const decision = logic.decide(state, { type: "star", target, now });
    if (decision.type === "refused") return [state, decision];
    const { at } = decision;
    return [logic.evolve(state, { type: "starred", id, target: target.key, at }), decision];
  },
});

/** A star of an event, with the id its fact names. */
export interface IdentifiedStar extends EventStar {
  readonly starId: string;
}

export const mintSteps = (
  logic: typeof foreverMint = foreverMint,
): Steps<ForeverMintInput, ForeverMintState, IdentifiedStar, EventDecision> => ({
  initial: logic.initial,
  step(state, { starId, ...star }) {
    const decision = logic.decide(state, star);
    const { weight, claims } = decision;
    const { wallet, at } = star;
    return [logic.evolve(state, { type: "starred", starId, wallet, at, weight, claims }), decision];
  },
});

/** Losses of a forever mint. */
export const lossSteps = (
  logic: typeof foreverMintCheck = foreverMintCheck,
): Steps<ForeverMintInput, ForeverMintState, HoldingsLost, LossDecision> => ({
  initial: logic.initial,
  step(state, lost) {
    const decision = logic.decide(state, lost);
    return [logic.evolve(state, decision), decision];
  },
});
