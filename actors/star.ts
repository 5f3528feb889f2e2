import type { Target } from "./content.ts";

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
