import type { Clock } from "../../clock.ts";
import { MirrorError } from "../../ledger/mirror/error.ts";
import type { ReadLimits } from "../../ledger/mirror/limits.ts";
import type { MirrorNode } from "../../ledger/mirror/node.ts";
import { msOf } from "../../ledger/transaction-id.ts";

/** A mirror node that is further behind, or a clock that is so wrong, is not compared with stars. */
const BEHIND_MAX_MS = 3_600_000;

/**
 * How far the mirror node has come, epoch ms. Asked before anything else is read of it: what is read
 * later is at least as new.
 *
 * @returns null where the node never says, or names a time by which the clocks cannot agree
 * @throws MirrorError where it fails to say
 */
export async function readReached(
  { mirror, clock }: { readonly mirror: Pick<MirrorNode, "newestBlock">; readonly clock: Clock },
  limits: ReadLimits,
): Promise<number | null> {
  try {
    const block = await mirror.newestBlock(limits);
    if (block === null) return null;
    const at = msOf(block.to);
    return clock.now() - at > BEHIND_MAX_MS ? null : at;
  } catch (error) {
    // It has no list of blocks.
    if (error instanceof MirrorError && error.fault === "status") return null;
    throw error;
  }
}
