import type { TargetType } from "./content.ts";

/** A star as the machines hear of it. Time and limit arrive as data. */
export interface StarIntent {
  readonly type: "star";
  readonly starId: string;
  /** `<type>/<id>`, see `targetKey`. */
  readonly target: string;
  /** Forever mints alone may be starred again on the same day. */
  readonly repeatable: boolean;
  /** Epoch milliseconds by the one clock. */
  readonly now: number;
  readonly limit: number;
}

/** What the wallet-day actor decides. */
export type WalletDecision =
  | {
      readonly type: "accepted";
      /** Which star of the day this is, from 1: also the actor's new version. */
      readonly slot: number;
      /** The star's instant: `now`, or the millisecond after the wallet's last star. */
      readonly at: number;
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

/** How a target is named inside an actor. */
export function targetKey(type: TargetType, id: string): string {
  return `${type}/${id}`;
}
