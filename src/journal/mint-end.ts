/** The two collections whose NFTs add weight. */
export type Collection = "A" | "B";

/** An NFT that counts on a mint, attributed to a wallet. */
export interface LiveClaim {
  readonly collection: Collection;
  readonly serial: number;
  readonly wallet: string;
  /** The star that brought it. */
  readonly starId: string;
  /** Since when it counts, epoch ms. */
  readonly since: number;
}

/** What a mirror node says of one NFT at one time. */
export interface Observation {
  /** The account that has it, deleted or not; null once burned or wiped. */
  readonly owner: string | null;
  /** The NFT, or its whole collection, is deleted: it then has no holder. */
  readonly deleted: boolean;
}

/** Why an NFT counts no longer: seen in the whole collection's reading and in its own. */
export interface Evidence extends Observation {
  /** When either reading started, epoch ms by the one clock. */
  readonly listedAt: number;
  readonly readAt: number;
}

/** A claim whose NFT its wallet no longer holds. */
export interface GoneClaim extends LiveClaim {
  readonly evidence: Evidence;
}

/** An attribution as it is to end. */
export interface MintEnd extends GoneClaim {
  /** What the mint's total loses with it. */
  readonly weight: number;
  /** The collection B serial that carries the +5 on; null where none does. */
  readonly spare: number | null;
  /** The collection B serials it was chosen from. */
  readonly heldB: readonly number[];
  /** Of these, the ones that count once everything of the plan is released. */
  readonly countedB: readonly number[];
}
