import { createHash } from "node:crypto";
import type { Nanos } from "../timestamps.ts";
import type { Block, Step } from "./state.ts";

const BEFORE_THE_FIRST = { number: -1, to: 0n, hash: "00".repeat(48) };

/**
 * Closes the block: every transaction up to now is in it or in one before, and what
 * comes later has a later timestamp. That is what lets a client conclude from the newest
 * block's end that a transaction not seen by then never took place.
 */
export const closeBlock: Step<void> = ({ at, add }) => add({ kind: "block", at });

/** The block that ends at `to`, with what came after the one before. */
export function nextBlock(before: Block | undefined, to: Nanos, transactions: number): Block {
  const { number: last, to: end, hash: previousHash } = before ?? BEFORE_THE_FIRST;
  const number = last + 1;
  const hash = createHash("sha384")
    .update(Buffer.from(previousHash, "hex"))
    .update(`${number} ${to} ${transactions}`)
    .digest("hex");
  return { number, from: end + 1n, to, transactions, hash, previousHash };
}
