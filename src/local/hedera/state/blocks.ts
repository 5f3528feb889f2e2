import { createHash } from "node:crypto";
import type { Step } from "./state.ts";

/**
 * Closes the block: every transaction up to now is in it or in one before, and whatever
 * comes later has a later timestamp. That is what lets a client conclude from the newest
 * block's end that a transaction not seen by then never took place.
 */
export const closeBlock: Step<void> = ({ state, rows, at }) => {
  const { chain } = state;
  const block = {
    number: chain.number + 1,
    from_ns: chain.to + 1n,
    to_ns: at,
    transactions: chain.waiting,
    previous_hash: chain.hash,
    hash: createHash("sha384")
      .update(chain.hash)
      .update(`${chain.number + 1} ${at} ${chain.waiting}`)
      .digest(),
  };
  rows.block.push(block);
  Object.assign(chain, { number: block.number, to: at, hash: block.hash, waiting: 0 });
};
