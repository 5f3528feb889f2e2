/**
 * The NFTs of the two collections a wallet held when the mirror node was read.
 * Serials are ascending and distinct; they, and not their count alone, decide
 * the weight of an event star.
 */
export interface Holdings {
  readonly collectionA: readonly number[];
  readonly collectionB: readonly number[];
  /** When the reading began, epoch milliseconds. */
  readonly readAt: number;
}
