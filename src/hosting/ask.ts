import type { Target } from "../../actors/content.ts";
import type { Day } from "../../actors/day.ts";
import type { HostedWalletDay } from "./host.ts";
import { askWallet } from "./propose.ts";
import type { Refusal } from "./turn.ts";

/** A star that is only asked about needs no id. */
const unnamed = (): string => "";

/**
 * Asks the wallet-day actor, before any network, whether a star could be let through. Nothing
 * is changed or promised: the turn asks again.
 *
 * A refusal stands: within a day stars only grow, so a memory that is behind another process
 * cannot refuse too much, and the passes were read after the request had arrived.
 *
 * @param now epoch milliseconds
 * @returns the refusal and its day, or null where nothing speaks against it
 */
export function askFirst(
  hosted: HostedWalletDay,
  target: Target,
  now: number,
): { readonly decision: Refusal; readonly day: Day } | null {
  const { decision } = askWallet(target, { hosted, now }, unnamed);
  // At the edge of the day the turn, not this look ahead, finds the right actor.
  if (decision.type !== "refused" || decision.code === "OTHER_DAY") return null;
  return { decision, day: hosted.state.context.day };
}
