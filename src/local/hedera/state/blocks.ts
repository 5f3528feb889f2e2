import type { Nanos } from "../timestamps.ts";
import type { Block, Step } from "./state.ts";

/**
 * Closes the block: every transaction up to now is in it or in one before, and what
 * comes later has a later timestamp. That is what lets a client conclude from the newest
 * block's end that a transaction not seen by then never took place.
 */
export const closeBlock: Step<void> = ({ at, add }) => add({ kind: "block", at });

/** The block that ends at `to`, with what came after the one before. */
export function nextBlock(before: Block | undefined, to: Nanos, transactions: number): Block {
  const { number, to: end } = before ?? { number: -1, to: 0n };
  return { number: number + 1, from: end + 1n, to, transactions };
}
