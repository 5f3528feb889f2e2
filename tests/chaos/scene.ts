import type { History } from "./history.ts";
import type { Place } from "./place.ts";
import type { Counts } from "./sums.ts";
import type { Voter, Voters } from "./voters.ts";

/** What faults inject, and where they are counted. */
export interface Scene {
  readonly place: Place;
  readonly voters: Voters;
  readonly history: History;
  readonly counts: Counts;
  readonly draw: (below: number) => number;
  /** Wallets that were given out so far. */
  readonly wallets: readonly Voter[];
}
