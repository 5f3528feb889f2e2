import type { Clock } from "../../clock.ts";
import { msOf } from "../transaction-id.ts";
import { MirrorError } from "./error.ts";
import type { ReadLimits } from "./limits.ts";
import type { MirrorNode } from "./node.ts";

/** A node that seems further behind is not compared: its ledger goes by another clock than ours. */
export const BEHIND_MAX_MS = 3_600_000;

/**
 * Whether a mirror node says that it has not come as far as an instant.
 *
 * @param since epoch ms by our clock
 * @throws MirrorError where it may say so later
 */
export async function isBehind(
  { mirror, clock }: { readonly mirror: Pick<MirrorNode, "newestBlock">; readonly clock: Clock },
  since: number,
  limits: ReadLimits,
): Promise<boolean> {
  try {
    const block = await mirror.newestBlock(limits);
    if (block === null) return false;
    const reachedAt = msOf(block.to);
    return reachedAt < since && clock.now() - reachedAt <= BEHIND_MAX_MS;
  } catch (error) {
    if (error instanceof MirrorError && !error.mayPass) return false;
    throw error;
  }
}
