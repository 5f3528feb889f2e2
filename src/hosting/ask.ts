import type { Target } from "../../actors/content.ts";
import { type WalletDayState, walletDay } from "../../actors/wallet-day.ts";
import type { Refusal } from "./turn.ts";

/**
 * Asks the wallet-day actor, before any network, whether a star could be let through. Nothing
 * is changed or promised: the turn asks again.
 *
 * @param now epoch milliseconds
 * @returns the refusal, or null where nothing speaks against the star
 */
export function askFirst(state: WalletDayState, target: Target, now: number): Refusal | null {
  const decision = walletDay.decide(state, { type: "star", target, now });
  // At the edge of the day the turn, not this look ahead, finds the right actor.
  return decision.type !== "refused" || decision.code === "OTHER_DAY" ? null : decision;
}
