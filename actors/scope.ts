/**
 * Within what an NFT counts once. `event-day`: this event and UTC day. `forever-mint`: this mint,
 * where a star counts once and may be given again. `none`: the star carries the full voting power.
 */
export type Scope = "event-day" | "forever-mint" | "none";

/** Whether a wallet may star an item again on the same UTC day. */
export function mayRepeat(scope: Scope): boolean {
  return scope === "forever-mint";
}
